package scrub_test

import "strings"

// blockPlaces are texts with a secret that no ordinary key names, or that is several
// words: {W} is a plain word, {P} are four of them, {M} twelve, {V} and {D} are
// random, {X} is random hex, {E} an address.
var blockPlaces = []struct{ group, text string }{
	{"identified by", "CREATE USER 'bob'@'%' IDENTIFIED BY '{V}'"}, {"identified by", "ALTER USER bob IDENTIFIED WITH mysql_native_password BY '{V}'"}, {"identified by", "create user bob identified by \"{V}\""},
	{"identified by", "GRANT ALL ON *.* TO 'x'@'%' IDENTIFIED BY PASSWORD '{V}'"}, {"identified by", "ALTER USER bob IDENTIFIED BY {V} REPLACE {W}"}, {"with password", "ALTER ROLE app WITH LOGIN PASSWORD '{V}'"}, {"with password", "CREATE ROLE app WITH ENCRYPTED PASSWORD '{V}' VALID UNTIL 'infinity'"},
	{"with password", "CREATE LOGIN app WITH PASSWORD = N'{V}'"}, {"set password", "SET PASSWORD FOR 'bob'@'%' = PASSWORD('{V}')"}, {"set password", "SELECT * FROM users WHERE pw = PASSWORD('{V}')"}, {"sql function", "SELECT AES_DECRYPT(card, '{V}') FROM cards"},
	{"sql function", "SELECT pgp_sym_encrypt('x', '{V}')"}, {"sql function", "UPDATE u SET h = crypt('{V}', gen_salt('bf'))"},
	{"curl", "curl -u bob:{V} https://x.example/"}, {"curl", "curl -s -u 'bob:{V}' https://x.example/"}, {"curl", "curl --user bob:{V} -X POST https://x.example/"}, {"curl", "curl -ubob:{V} https://x.example/"}, {"curl", "curl --proxy-user bob:{V} https://x.example/"},
	{"curl", "curl -H 'X-Api-Key: {V}' https://x.example/"}, {"curl", `curl -H "Authorization: Bearer {V}" https://x.example/`}, {"curl", "wget --http-user=bob --http-password={V} https://x.example/"},
	{"mysql", "mysql -h db -u root -p{V} shop"}, {"mysql", "mysqldump -uroot -p'{V}' shop > x.sql"}, {"mysql", "mysqladmin -u root -p{V} status"}, {"mysql", "sh: mysql -uroot -p\"{V}\" failed"}, {"mysql", "mariadb -p{V} -u root"},
	{"cli", "sshpass -p {V} ssh bob@db"}, {"cli", "sshpass -p{V} ssh bob@db"}, {"cli", "redis-cli -h cache -a {V} ping"}, {"cli", "docker login -u bob -p {V} registry.example"}, {"cli", "ldapsearch -x -D cn=admin -w {V} -b dc=x"}, {"cli", "openssl rsa -in x.pem -passin pass:{V}"},
	{"cli", "7z x -p{V} archive.7z"}, {"cli", "unzip -P {V} archive.zip"}, {"cli", "sqlcmd -S db -U sa -P {V} -Q x"}, {"cli", "smbclient //srv/x -U bob%{V}"}, {"cli", "htpasswd -b .htpasswd bob {V}"}, {"cli", "mongosh -u bob -p {V} --host db"}, {"cli", "PGPASSWORD={V} psql -h db"}, {"cli", "echo {V} | sudo -S ls"},
	{"pgpass", "db.example.com:5432:shop:app:{V}"}, {"pgpass", "*:*:*:app:{V}"}, {"pgpass", "bad line in .pgpass: localhost:5432:*:app:{V}"}, {"netrc", "machine api.example.com login bob password {V}"}, {"netrc", "machine x\n  login bob\n  password {V}\n"}, {"htpasswd", "bob:$apr1$W3kq0abc$3kQkq9Z4b3fV0mQw8yP0V."},
	{"userinfo", "postgres://app:{V}@db.example:5432/shop"}, {"userinfo", "amqp://app:{V}@broker/vhost"}, {"userinfo", "mongodb+srv://app:{V}@c0.example.net/?retryWrites=true"}, {"userinfo", "redis://:{V}@cache:6379/0"}, {"userinfo", "https://bob:{V}@git.example/x.git"}, {"userinfo", "smtp://bob%40x.example:{V}@mail.example:587"},
	{"userinfo", "jdbc:oracle:thin:app/{V}@db.example:1521:shop"}, {"userinfo", "app:{V}@tcp(10.0.0.7:3306)/shop"}, {"userinfo", "https://{V}@git.example/x.git"}, {"jdbc", "jdbc:mysql://db/shop?user=app&password={V}"}, {"jdbc", "jdbc:sqlserver://db:1433;user=sa;password={V};encrypt=true"},
	{"sas", "https://a.blob.core.windows.net/c/b?sv=2022-11-02&se=2026&sr=b&sp=r&sig={V}%3D"}, {"account key", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={V}{D}==;EndpointSuffix=core.windows.net"}, {"account key", "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey={V}{D}="},
	{"presigned", "https://b.s3.amazonaws.com/k?X-Amz-Credential={D}&X-Amz-Signature={X}"}, {"aws", "aws_access_key_id = AKIAIOSFODNN7EXAMPLE\naws_secret_access_key = {V}{D}/{V}"},
	{"stack args", "#0 /srv/app/db.php(12): PDO->__construct('mysql:host=db;dbname=x', 'app', '{V}')\n#1 {main}"}, {"stack args", "#1 /srv/x.php(3): mysqli_connect('db', 'app', '{V}', 'shop')"}, {"stack args", "#2 x.php(9): mysqli->__construct('db', 'app', '{V}')"}, {"stack args", "#0 a.php(1): password_verify('{V}', '$2y$10$abc')"},
	{"stack args", "#0 a.php(1): ldap_bind(Resource id #3, 'cn=bob', '{V}')"}, {"stack args", "#0 a.php(1): password_hash('{V}', 1)"}, {"stack args", "#0 a.php(1): Redis->auth('{V}')"}, {"stack args", "#0 a.php(1): ftp_login(Resource id #2, 'bob', '{V}')"}, {"stack args", "at login(password={V}, user=bob) (app.py:7)"},
	{"stack args", `main.login({0x1, 0x2}, password="{V}")`},
	{"header", "Authorization: Basic {D}"}, {"header", "authorization: Bearer {V}"}, {"header", "Proxy-Authorization: Basic {D}=="}, {"header", "> Authorization: Token {V}"}, {"header", "Authorization: ApiKey {V}"}, {"header", "Authorization: {V}"}, {"header", "X-Vault-Token: {V}"}, {"header", "PRIVATE-TOKEN: {V}"}, {"header", "X-Auth-Token: {V}\nAccept: x"},
	{"header", "{'Authorization': 'Bearer {V}', 'Accept': '*/*'}"}, {"header", `headers: [["Authorization","Bearer {V}"]]`}, {"header", "Authorization: AWS4-HMAC-SHA256 Credential={D}/20260101/eu/s3/aws4_request, SignedHeaders=host, Signature={X}"}, {"header", "HTTP_AUTHORIZATION=Bearer {V}"}, {"header", "Authorization: Digest username=\"bob\", response=\"{X}\""},
	{"cookie", "Cookie: PHPSESSID={V}; theme=dark"}, {"cookie", "Set-Cookie: sid={V}; Path=/; HttpOnly"}, {"cookie", "set-cookie: JSESSIONID={X}; Path=/"}, {"cookie", "laravel_session={V}"}, {"cookie", "{'Cookie': 'a={V}; b={D}'}"}, {"cookie", "remember_token={V}; x"}, {"cookie", "ASP.NET_SessionId={V}"}, {"cookie", "cookies: {sessionid: '{V}'}"},
	{"rest of a value", "password={P}"}, {"rest of a value", "DB_PASSWORD={P}\nDB_HOST=db"}, {"rest of a value", "passphrase: {P}"}, {"rest of a value", "Server=db;User Id=app;Password={P};Database=x"}, {"rest of a value", "password: \"{P}\""}, {"rest of a value", "mnemonic: {M}"}, {"rest of a value", "seed phrase: {M}"},
	{"rest of a value", "recovery phrase = {M}"}, {"rest of a value", "user=bob, password={P}, host=db"}, {"rest of a value", "passwort: {V} und {W}"}, {"rest of a value", "contraseña = {P}"}, {"rest of a value", "\"mnemonic\": \"{M}\""}, {"rest of a value", "seed words:\n{M}\n"}, {"rest of a value", "password = {V} {W} {W}"},
	{"mail in a database error", "Duplicate entry '{E}' for key 'users.email'"}, {"mail in a database error", "duplicate key value violates unique constraint \"users_email_key\"\nDETAIL:  Key (email)=({E}) already exists."}, {"mail in a database error", "E11000 duplicate key error collection: shop.users index: email_1 dup key: { email: \"{E}\" }"},
	{"mail in a database error", "Cannot insert duplicate key row in object 'dbo.Users' with unique index 'IX_Users_Mail'. The duplicate key value is ({E})."}, {"mail in a database error", "insert into users (name, mail) values ('bob', '{E}')"}, {"mail in a database error", "Key (lower(mail::text))=({E}) already exists."},
	{"mail in a database error", "SQLSTATE[23000]: 1062 Duplicate entry '{E}-7' for key 'users.mail_shop'"}, {"mail in a database error", "Failing row contains (7, bob, {E}, 2026-01-01)."}, {"mail in a database error", "SELECT * FROM users WHERE mail = '{E}' LIMIT 1"},
	{"webhook", "https://x.webhook.office.com/webhookb2/{X}-{D}@{X}/IncomingWebhook/{X}/{D}"}, {"webhook", "https://hooks.zapier.com/hooks/catch/1234567/{V}{D}/"}, {"webhook", "https://maker.ifttt.com/trigger/x/with/key/{D}"}, {"webhook", "https://open.feishu.cn/open-apis/bot/v2/hook/{D}"}, {"webhook", "https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key={D}"},
	{"webhook", "https://maps.example/api/js?key={D}&x=1"}, {"webhook", "https://oapi.dingtalk.com/robot/send?access_token={X}"},
	{"pem", "-----BEGIN RSA PRIVATE KEY-----\n{D}\n{D}\n-----END RSA PRIVATE KEY-----"}, {"pem", "-----BEGIN OPENSSH PRIVATE KEY-----\\n{D}\\n{D}\\n-----END OPENSSH PRIVATE KEY-----\\n"}, {"pem", `{"private_key":"-----BEGIN PRIVATE KEY-----\n{D}\n-----END PRIVATE KEY-----\n"}`}, {"pem", "-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n{D}\n={D}\n-----END PGP PRIVATE KEY BLOCK-----"},
	{"pem", "-----BEGIN EC PRIVATE KEY-----\n{D}"}, {"pem", "-----BEGIN%20PRIVATE%20KEY-----%0A{D}%0A-----END%20PRIVATE%20KEY-----"}, {"ppk", "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPrivate-Lines: 1\n{D}\nPrivate-MAC: {X}"},
	{"shadow", "root:$6$saltsalt${D}:19000:0:99999:7:::"}, {"hash", `{"password_hash":"{X}"}`}, {"hash", "password_digest: {X}"}, {"hash", "users (id, pass_hash) VALUES (1, '{X}')"},
}

func plantedBlocks(d drawer) (plants []plant) {
	for range 2 {
		for _, place := range blockPlaces {
			plants = append(plants, d.plant(place.group, place.text))
		}
	}
	return plants
}

// plant replaces {V}, {W} and so on in a text.
func (d drawer) plant(group, text string) plant {
	p := plant{group: group}
	var out strings.Builder
	for i := 0; i < len(text); i++ {
		secret := ""
		if strings.HasPrefix(text[i:], "{") && i+2 < len(text) && text[i+2] == '}' {
			secret = d.block(text[i+1])
		}
		if secret == "" {
			out.WriteByte(text[i])
			continue
		}
		out.WriteString(secret)
		p.secrets = append(p.secrets, secret)
		i += len("V}")
	}
	p.text = out.String()
	return p
}

func (d drawer) block(kind byte) string {
	switch kind {
	case 'V':
		return d.form("{w3}{d2}{a9}")
	case 'W':
		return d.words(1)
	case 'P':
		return d.words(4)
	case 'M':
		return d.words(12)
	case 'D':
		return d.form("{a40}")
	case 'X':
		return d.form("{h64}")
	case 'E':
		return d.form("{w4}.{w6}@{w7}.example")
	}
	return ""
}
