package scrub_test

import (
	"strings"
	"testing"
)

// heldOutPlaces were written after the rules, with another seed and other
// combinations: {V} and {D} are random, {X} is random hex, {W} is a plain word, {P}
// are four of them, {M} twelve, {E} is a mail address, {K} a key of any language, {B}
// a key that is no name of a password.
var heldOutPlaces = []struct{ group, text string }{
	{"json", `{"level":"error","ctx":{"user":{"id":7,"{K}":"{V}"}}}`}, {"json", `[{"{K}":"{V}","ok":false}]`}, {"json", `payload={"auth":{"{B}":"{D}"}}`}, {"json", "{\n  \"user\": \"bob\",\n  \"{K}\": \"{V}\"\n}"},
	{"json", `{"{K}":["{V}","{V}"]}`}, {"json", `{"{K}":{"value":"{V}"}}`}, {"json", `"msg":"{\"{K}\": \"{V}\"}"`}, {"json5", `{user: 'bob', {K}: '{V}'}`}, {"json cut", `{"user":"bob","{K}":"{V}`},
	{"dump", "array:2 [\n  \"user\" => \"bob\"\n  \"{K}\" => \"{V}\"\n]"}, {"dump", "^ array:1 [\n  \"{K}\" => \"{V}\"\n]"}, {"dump", "App\\Models\\User {#12\n  #{K}: \"{V}\"\n  +name: \"bob\"\n}"}, {"dump", "object(stdClass)#1 (2) { [\"id\"]=> int(7) [\"{K}\"]=> string(14) \"{V}\" }"},
	{"dump", "stdClass::__set_state(array(\n   '{K}' => '{V}',\n))"}, {"dump", "(object) array('{K}' => '{V}')"}, {"dump", "O:4:\"User\":1:{s:8:\"{K}\";s:14:\"{V}\";}"}, {"dump", "#<struct User name=\"bob\", {K}=\"{V}\">"}, {"dump", "&{Name:bob {K}:{V}}"}, {"dump", "User{name=bob, {K}={V}}"},
	{"dump", "namespace(user='bob', {K}='{V}')"}, {"dump", "OrderedDict([('user', 'bob'), ('{K}', '{V}')])"}, {"dump", "%{user: \"bob\", {K}: \"{V}\"}"}, {"dump", "[user: \"bob\", {K}: \"{V}\"]"}, {"dump", "<QueryDict: {'user': ['bob'], '{K}': ['{V}']}>"}, {"dump", "{\"{K}\"=>\"{V}\", \"commit\"=>\"Sign in\"}"},
	{"dump", "Parameters: {\"user\"=>{\"name\"=>\"bob\", \"{K}\"=>\"{V}\"}}"}, {"dump", "FormData { {K} → \"{V}\" }"}, {"dump", "Map(2) {'user' => 'bob', '{K}' => '{V}'}"}, {"dump", "Some(Login { {K}: \"{V}\" })"}, {"dump", "record User { Name = bob, {K} = {V} }"},
	{"config", "spring.datasource.{K}={V}"}, {"config", "  {K}: '{V}'  # do not share"}, {"config", "[client]\nuser = app\n{K} = {V}\n"}, {"config", "define('{K}', '{V}');"}, {"config", "$config['{K}'] = '{V}';"}, {"config", "const {K} = \"{V}\";"}, {"config", "{K}: ENC({V})"}, {"config", "set {K}={V}"},
	{"config", "ENV {K} {V}"}, {"config", "ARG {K}={V}"}, {"config", "{K}   \"{V}\""}, {"config", "app.{K}   =   '{V}'   ; old"}, {"config", "db {\n  user = \"app\"\n  {K} = \"{V}\"\n}"}, {"config", "{K} => {V},"}, {"config", "--set global.{K}={V} --wait"}, {"config", "--from-literal={K}={V}"}, {"config", "stringData:\n  {K}: {V}"},
	{"next line", "Bitte {K} eingeben:\n{V}\n"}, {"next line", "\"{K}\":\n    \"{V}\""}, {"next line", "{K}\n{V}"}, {"yaml", "{K}: &pw {V}"}, {"yaml", "{K}: >\n  {V}\n"}, {"yaml", "users:\n- name: bob\n  {K}: {V}"}, {"yaml", "  - {K}={V}\n  - TZ=UTC"},
	{"xml", "<cfg><{K} encrypted=\"false\">{V}</{K}></cfg>"}, {"xml", "<entry key=\"{K}\">{V}</entry>"}, {"xml", "<param name='{K}' value='{V}' />"}, {"xml", "<login {K}=\"{V}\" user=\"bob\"/>"}, {"xml", "<setting name=\"{K}\" serializeAs=\"String\"><value>{V}</value></setting>"}, {"xml", "<a:{K} xsi:type=\"xsd:string\">{V}</a:{K}>"},
	{"xml", "<string>{K}</string><string>{V}</string>"}, {"xml", "<key>{K}</key>\n<string>{V}</string>"}, {"xml", "<member><name>{K}</name><value><string>{V}</string></value></member>"}, {"html", "<input name=\"{K}\" type=\"password\" value=\"{V}\">"}, {"html", "&lt;{K}&gt;{V}&lt;/{K}&gt;"}, {"html", "{&#34;{K}&#34;:&#34;{V}&#34;}"},
	{"sql", "REPLACE INTO accounts(`{K}`, `id`) VALUES(\"{V}\", 9)"}, {"sql", "INSERT INTO public.users (\"id\", \"{K}\") VALUES (1, E'{V}')"}, {"sql", "MERGE INTO u USING (SELECT '{V}' AS {K} FROM dual) s ON (1=1)"}, {"sql", "SELECT id FROM users WHERE {K}='{V}' OR 1=1"}, {"sql", "UPDATE users SET {K}=N'{V}', n=1"}, {"sql", "INSERT INTO users SET name='bob', {K}='{V}'"},
	{"sql", "insert into u (id,{K},n)\nvalues\n(1,'{V}',2),\n(2,'{V}',3)"}, {"sql", "CREATE USER app PASSWORD '{V}'"}, {"sql", "ALTER USER 'app'@'localhost' IDENTIFIED WITH caching_sha2_password BY '{V}'"}, {"sql", "CREATE USER app IDENTIFIED WITH sha256_password BY '{V}'"}, {"sql", "EXEC sp_addlogin 'app', '{V}'"}, {"sql", "CREATE SERVER s OPTIONS (user 'app', password '{V}')"},
	{"sql", "CHANGE MASTER TO MASTER_USER='r', MASTER_PASSWORD='{V}'"}, {"sql", "SELECT dblink_connect('host=db user=app password={V}')"}, {"sql", "[parameters: {'name': 'bob', '{K}': '{V}'}]"}, {"sql", "[parameters: ('bob', '{V}')] INSERT INTO users (name, password)"}, {"sql", "WHERE {K} LIKE '{V}%'"},
	{"escapes", "redirect=%2Flogin%3Fuser%3Dbob%26{B}%3D{V}"}, {"escapes", "%7B%22{B}%22%3A%20%22{V}%22%7D"}, {"escapes", "data=%257B%2522{B}%2522%253A%2522{V}%2522%257D"}, {"escapes", `\u007b\u0022{B}\u0022\u003a\u0022{V}\u0022\u007d`}, {"escapes", `"url":"\/cb?x=1\u0026{B}=\u0022{V}\u0022"`}, {"escapes", "user%5B{B}%5D={V}&commit=1"}, {"escapes", `{B}\x3d{V}`}, {"escapes", "{B}&#61;{V}"},
	{"query", "/cb?state=1&{B}={V}"}, {"query", "POST /oauth/token grant_type=password&username=bob&password={V}&scope=x"}, {"query", "https://x.example/#access_token={D}&token_type=bearer"}, {"query", "wss://x.example/ws?{B}={V}"}, {"query", "https://api.example/?apikey={X}"}, {"query", "https://x.example/reset?t=1&reset_token={X}"},
	{"header", "* Server auth using Basic with user 'bob'\n> Authorization: Basic {D}=="}, {"header", "headers={'X-API-KEY': '{D}'}"}, {"header", "Cookie=session={D}; lang=de"}, {"header", "-H 'Authorization: token {D}'"}, {"header", "X-Amz-Security-Token: {D}{D}"}, {"header", "Ocp-Apim-Subscription-Key: {X}"}, {"header", "api-key: {X}"}, {"header", "x-goog-api-key: {D}"},
	{"header", "Authorization:Bearer {D}"}, {"header", "authorization=[Bearer {D}]"}, {"header", "Authorization => Bearer {D}"}, {"header", "(\"authorization\", \"Bearer {D}\")"}, {"header", "Sec-WebSocket-Protocol: bearer, {D}"}, {"header", "X-Csrf-Token: {D}"}, {"header", "\"Set-Cookie\": \"id={D}; HttpOnly\""}, {"header", "cookie: _ga=GA1.2; auth={D}"},
	{"url", "mysql://root:{V}@10.0.0.7/shop"}, {"url", "mongodb://app:{V}@a.example:27017,b.example:27017/x"}, {"url", "ldap://cn=admin:{V}@ldap.example"}, {"url", "git clone https://oauth2:{D}@gitlab.example/x.git"}, {"url", "socks5://u:{V}@proxy:1080"}, {"url", "sqlserver://sa:{V}@db?database=x"}, {"url", "DATABASE_URL=postgresql://app:{V}@db/shop"}, {"url", "ftp://bob:{V}@ftp.example/x"},
	{"dsn", "Data Source=db;Initial Catalog=x;User ID=sa;Pwd={V};"}, {"dsn", "mysql:host=db;dbname=x;user=app;password={V}"}, {"dsn", "user=app password={V} host=db sslmode=disable"}, {"dsn", "uid=app;pwd='{V}';server=db"}, {"dsn", "app/{V}@//db.example:1521/XE"}, {"dsn", "tcp://db:9000?username=app&password={V}"}, {"dsn", "AMQP_PASS={V}"},
	{"cli", "curl -k --user 'bob:{V}' https://x"}, {"cli", "curl https://x -u bob:{V}"}, {"cli", "mysql --user=root --password={V} -e 'x'"}, {"cli", "Command failed: mysqldump -h db -u root -p{V} shop"}, {"cli", "psql postgresql://app:{V}@db"}, {"cli", "sshpass -p'{V}' scp x bob@h:"}, {"cli", "az login -u bob -p {V}"}, {"cli", "helm registry login -u bob -p {V} r.example"}, {"cli", "gpg --passphrase {V} -d x.gpg"},
	{"cli", "keytool -storepass {V} -keystore k.jks"}, {"cli", "openssl pkcs12 -passout pass:{V}"}, {"cli", "net use x: \\\\srv\\x /user:bob {V}"}, {"cli", "redis-cli -a '{V}' info"}, {"cli", "['mysql', '-uroot', '-p{V}']"}, {"cli", "export {B}={V}; ./run"}, {"cli", "cmd /p:{V}"}, {"cli", "wget --password {V} ftp://x"}, {"cli", "aws configure set aws_secret_access_key {D}"}, {"cli", "vault login {D}"},
	{"trace", "#3 /srv/a.php(7): PDO->__construct('pgsql:host=db', 'app', '{V}', Array)"}, {"trace", "#1 /srv/a.php(7): Illuminate\\Hashing\\BcryptHasher->make('{V}')"}, {"trace", "#0 /srv/a.php(9): App\\Auth->login('bob', '{V}')"}, {"trace", "#2 /srv/a.php(5): mysqli_real_connect(Object(mysqli), 'db', 'app', '{V}')"}, {"trace", "#2 x.php(1): App\\User->setPassword('{V}')"},
	{"trace", "  File \"x.py\", line 7, in connect\n    conn = connect(host='db', passwd='{V}')"}, {"trace", "at Login.check(Login.java:7) [password={V}]"}, {"trace", "login(username=\"bob\", {B}=\"{V}\")"}, {"trace", "locals: {B}='{V}', n=3"}, {"trace", "vars: {B} = \"{V}\""},
	{"sentence", "The generated password for bob is {V}."}, {"sentence", "Your new password: {V}"}, {"sentence", "password {V} was rejected"}, {"sentence", "invalid password \"{V}\""}, {"sentence", "Invalid API key provided: {D}"}, {"sentence", "Incorrect API key provided: sk-{D}"}, {"sentence", "token {D} has expired"}, {"sentence", "could not verify token '{D}'"}, {"sentence", "PIN 4711 and {B}={V}"}, {"sentence", "expected {B} to equal '{V}'"},
	{"sentence", "login with bob / {V} failed"}, {"sentence", "bad credentials: bob:{V}"}, {"sentence", "credentials bob:{V}@ldap refused"}, {"sentence", "using key {D}"}, {"sentence", "secret={V}, retrying"}, {"sentence", "{K}: {V} (wrong)"}, {"sentence", "{K} ({V}) is not accepted"}, {"sentence", "{K} [{V}] is not accepted"},
	{"full width", "{K}：{V}"}, {"blanks", "{K}             {V}"}, {"blanks", "{K} \t : \t {V}"}, {"blanks", "{K}=   {V}"}, {"blanks", "| {K} | {V} |"}, {"blanks", "*************************** 1. row\n   name: bob\n{K}: {V}"},
	{"rest", "password: {P}\n"}, {"rest", "{K}={P}"}, {"rest", "pass phrase: {P}"}, {"rest", "seed: {M}"}, {"rest", "wallet mnemonic = \"{M}\""}, {"rest", "{\"seedPhrase\":\"{M}\"}"}, {"rest", "Secret Recovery Phrase: {M}"}, {"rest", "DB_PASSWORD = {P}\r\nX=1"}, {"rest", "pwd={P};server=x"}, {"rest", "backup words: {M}"},
	{"mail", "Unique violation: 7 ERROR: duplicate key DETAIL: Key (email)=({E}) already exists."}, {"mail", "UNIQUE constraint failed: users.email ('{E}')"}, {"mail", "ORA-00001: unique constraint violated, value '{E}'"}, {"mail", "Violation of UNIQUE KEY constraint. The duplicate key value is ({E})."}, {"mail", "for column email at row 1: '{E}'"}, {"mail", "dup key: { : \"{E}\" }"}, {"mail", "Duplicate entry '{E}' for key 'email'"},
	{"mail", "Key (tenant, email)=(7, {E}) already exists."}, {"mail", "invalid input value: \"{E}\""}, {"mail", "WHERE email = '{E}'"},
	{"token", "remote: https://x-access-token:ghs_{D}@github.com/a/b"}, {"token", "Using token glpat-{D}"}, {"token", "SLACK: xoxb-1234567890-{D}"}, {"token", "hook https://hooks.slack.com/services/T0AB12CD3/B0EF45GH6/{D}"}, {"token", "Invalid bearer {D}"}, {"token", "jwt malformed: eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJ4In0.{D}"}, {"token", "key=AIzaSy{D}"}, {"token", "hvs.{D} is not valid"}, {"token", "npm ERR! //registry.npmjs.example/:_authToken=npm_{D}"},
	{"token", "dop_v1_{X}"}, {"token", "export HF=hf_{D}"}, {"token", "'shpat_{X}'"}, {"token", "bot token MTAxMjM0NTY3ODkwMTIzNDU2.GaBcDe.{D}"}, {"token", "bot123456789:AAF{D}"}, {"token", "SG.{D}.{D}{D}"}, {"token", "ATATT3xFfGF0{D}{D}"}, {"token", "ya29.a0{D}{D}"}, {"token", "dckr_pat_{D}"}, {"token", "glsa_{D}_0a1b2c3d"},
	{"hash", "$2y$12$abcdefghijklmnopqrstuu{D}"}, {"hash", "hash mismatch for $argon2id$v=19$m=65536,t=3,p=4${D}${D}"}, {"hash", "user:$6$rounds=656000$salt${D}{D}:19000:"}, {"hash", "pbkdf2_sha256$600000$salt${D}"}, {"hash", "md5 password hash {X}"}, {"hash", "password hash: {X}"}, {"hash", "$P$B{D}"}, {"hash", "{PBKDF2-SHA256}10000$x${D}"},
	{"number", "card 4111-1111-1111-1111 {B}={V}"}, {"number", "IBAN DE89370400440532013000, {B}: {V}"},
	{"pem", "ssl key '-----BEGIN EC PRIVATE KEY-----\\n{D}\\n{D}\\n-----END EC PRIVATE KEY-----'"}, {"pem", "-----BEGIN ENCRYPTED PRIVATE KEY-----\r\n{D}\r\n{D}"}, {"pem", "key: |\n  -----BEGIN RSA PRIVATE KEY-----\n  {D}\n  -----END RSA PRIVATE KEY-----"},
}

// heldOutKeys are names of secrets other than passwords, for {B}.
var heldOutKeys = strings.Fields("password api_key apiToken client_secret accessToken db_passwd secretKey refresh_token auth_token private_key otp pin session_id csrfToken mdp senha clave haslo")

// leastHeldOut is the share of the secrets in the held out set that must be removed.
// It was measured when the set was written; no rule was made for the set.
const leastHeldOut = 0.78

// TestHeldOutSecretsAreGone measures the rules on texts that they were not written
// for.
func TestHeldOutSecretsAreGone(t *testing.T) {
	d := newDrawer(4242)
	var plants []plant
	for range 2 {
		for _, place := range heldOutPlaces {
			text := strings.NewReplacer("{K}", pick(d, foreignKeys), "{B}", pick(d, heldOutKeys)).Replace(place.text)
			plants = append(plants, d.plant("held out "+place.group, text))
		}
	}
	gone, all := sweep(t, plants, true)
	if float64(gone) < leastHeldOut*float64(all) {
		t.Errorf("%d of %d are gone, want at least %.0f %%", gone, all, 100*leastHeldOut)
	}
}
