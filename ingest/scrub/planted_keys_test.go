package scrub_test

import (
	"fmt"
	"net/url"
	"strings"
)

// foreignKeys are names of passwords and the like in other languages.
var foreignKeys = strings.Fields(`
password passwd db_password userPassword PASS pwd passphrase secret client_secret api_key apiKey access_token authToken private_key psk wpa_psk mnemonic seed_phrase seedPhrase recovery_phrase
Kennwort Passwort passwort_neu Geheimnis contraseña contrasena CONTRASEÑA clave clave_acceso mot_de_passe motDePasse mdp senha senha_atual palavra_passe hasło haslo wachtwoord Wachtwoord
пароль Пароль ПАРОЛЬ пароль_админа лозинка гасло パスワード 暗証番号 密码 密碼 登录密码 口令 비밀번호 암호 lösenord losenord parola sifre şifre Şifre heslo salasana adgangskode kodeord passord jelszó geslo lozinka
κωδικός συνθηματικό סיסמה kata_sandi mật_khẩu รหัสผ่าน पासवर्ड slaptažodis parole_utilisateur parool`)

// keyPlaces are texts with a key K and its random value V; Q is a value between
// quotes, which may have any signs.
var keyPlaces = []struct{ group, text string }{
	{"json", `{"user":"bob","K":"V","n":1}`}, {"json", `{"a":{"b":[{"K" : "V"}]}}`}, {"json escaped", `body: "{\"K\":\"V\",\"x\":1}"`}, {"json twice", `{\\\"K\\\":\\\"V\\\"}`},
	{"json pair", `{"name":"K","value":"V"}`}, {"json pair", `{"key": "K", "type": "string", "value": "V"}`}, {"json pair", `[["K","V"],["x","y"]]`},
	{"var_dump", "array(2) {\n  [\"user\"]=>\n  string(3) \"bob\"\n  [\"K\"]=>\n  string(20) \"V\"\n}"},
	{"var_dump", "object(User)#3 (1) {\n  [\"K\":protected]=>\n  string(20) \"V\"\n}"}, {"var_dump", "object(User)#3 (1) {\n  [\"K\":\"App\\User\":private]=>\n  string(20) \"V\"\n}"},
	{"print_r", "Array\n(\n    [user] => bob\n    [K] => V\n)"}, {"print_r", "User Object\n(\n    [K:protected] => V\n    [n] => 1\n)"}, {"print_r", "User Object ( [K:User:private] => V [n] => 1 )"},
	{"var_export", "array (\n  'K' => 'V',\n  'x' => 'y',\n)"}, {"serialize", `a:2:{s:4:"user";s:3:"bob";s:8:"K";s:20:"V";}`},
	{"blanks", "user     = bob\nK     =    V\n"}, {"blanks", "K\t=\tV"}, {"blanks", "K        : V"}, {"blanks", "K =         \"V\""},
	{"next line", "K:\nV"}, {"next line", "K:\r\n    V\r\n"}, {"next line", "K =\n  V\nnext"}, {"next line", "Enter K:\n\nV\n"},
	{"yaml", "db:\n  user: app\n  K: V\n  host: db"}, {"yaml", "- name: x\n  K: \"V\"\n"}, {"yaml", "K: |\n  V\nx: y"}, {"yaml", "K: >-\n    V\nx: y"}, {"yaml", "K: !!str V"}, {"yaml", "env:\n  - name: K\n    value: V\n"},
	{"xml", "<K>V</K>"}, {"xml", `<K type="x">V</K>`}, {"xml", "<ns:K>\n  V\n</ns:K>"}, {"xml", "<K><![CDATA[V]]></K>"}, {"xml", `<add key="K" value="V"/>`}, {"xml", `<property name="K"><value>V</value></property>`},
	{"xml", `<property name="K" value="V"/>`}, {"xml", `<user name="bob" K="V"/>`}, {"xml escaped", "&lt;K&gt;V&lt;/K&gt;"}, {"html escaped", "{&quot;K&quot;:&quot;V&quot;,&quot;x&quot;:1}"}, {"html", `<input type="text" name="K" value="V">`},
	{"soap", `<soap:Body><wsse:UsernameToken><wsse:Username>bob</wsse:Username><wsse:K Type="http://docs.example/x#PasswordText">V</wsse:K></wsse:UsernameToken></soap:Body>`},
	{"sql values", "INSERT INTO users (name, K, age) VALUES ('bob', 'V', 7)"}, {"sql values", "INSERT INTO `users` (`id`, `K`) VALUES (7, 'V'), (8, 'V')"}, {"sql values", "insert into users(K,name) values('V','O''Neil') on conflict do nothing"},
	{"sql values", "INSERT INTO t (a, b, c, K) VALUES (NOW(), 'x, y', NULL, 'V') RETURNING id"}, {"sql set", "UPDATE users SET name = 'x', K = 'V' WHERE id = 7"}, {"sql where", "SELECT * FROM users WHERE name = 'bob' AND `K` = 'V'"},
	{"percent", "body=user%3Dbob%26K%3DV%26x%3D1"}, {"percent", "payload=%7B%22K%22%3A%22V%22%2C%22x%22%3A1%7D"}, {"percent twice", "next=%2Fx%3FK%253DV%2526y%253D1"},
	{"u escapes", `{\u0022K\u0022:\u0022V\u0022,\u0022x\u0022:1}`}, {"u escapes", `"q":"user=bob\u0026K=V\u0026x=1"`}, {"u escapes", `K\u003dV\u0026x`}, {"u escapes", `\u003cK\u003eV\u003c/K\u003e`},
	{"query", "GET /login?user=bob&K=V&page=2 HTTP/1.1"}, {"query", "https://shop.example/cb?K=V#top"}, {"form", "user[K]=V&x=1"}, {"form", "------b1\r\nContent-Disposition: form-data; name=\"K\"\r\n\r\nV\r\n------b1--"},
	{"header", "X-K: V\r\nAccept: */*"}, {"ini", "[db]\nuser=app\nK=V\nhost=db"}, {"env", "export K=\"V\"\nPATH=/bin"}, {"env", "docker run -e K=V -e X=1 app"}, {"logfmt", "level=error msg=\"no login\" K=V user=bob"}, {"logfmt", `level=error K="V" n=1`},
	{"dsn", "Server=db;User Id=app;K=V;Database=x"}, {"dsn", "host=db port=5432 user=app K=V dbname=shop"}, {"dsn", "Driver={ODBC};Uid=app;K={V};"}, {"dsn", "Server=db; K = V ; Encrypt=yes"},
	{"go", "{User:bob K:V N:7}"}, {"go", `main.Login{User:"bob", K:"V"}`}, {"go", "map[K:V user:bob]"}, {"java", "User(name=bob, K=V, age=7)"}, {"java", "Login{user='bob', K='V'}"}, {"ruby", `{:user=>"bob", :K=>"V"}`}, {"ruby", `#<User id: 7, K: "V">`},
	{"python", "{'user': 'bob', 'K': 'V'}"}, {"python", "connect(host='db', K='V', port=5432)"}, {"python", "Login(user=None, K=b'V')"}, {"python", "('K', 'V')"}, {"rust", `Login { user: "bob", K: "V" }`}, {"rust", `K: Some("V")`}, {"c#", "new Login { K = \"V\" }"},
	{"cli", "cmd --K V --host db"}, {"cli", "cmd --K=V --host db"}, {"cli", "cmd --K 'V' x"}, {"toml", "[db]\nK = 'V'\nport = 1"}, {"cookie", "Cookie: theme=dark; K=V; x=y"}, {"arrow", "K -> V"}, {"arrow", "K := \"V\""}, {"sentence", "the K is V"},
	{"sentence", "wrong K 'V' of bob"}, {"table", "| user | bob |\n| K | V |"}, {"tuple", "K='V', x='y'"},
}

func plantedKeys(d drawer) (plants []plant) {
	for i := range 9 * len(keyPlaces) {
		place := keyPlaces[i%len(keyPlaces)]
		key := foreignKeys[(i*7+i/len(keyPlaces)*3)%len(foreignKeys)]
		if key[0] >= 0x80 && (place.group == "header" || place.group == "cli") {
			key = "password" // a header and an option have ASCII names
		}
		value := d.value()
		if i%5 == 0 && place.group != "sentence" {
			value = d.form("{w9}") // a plain word, as people choose it
		}
		shown, written := key, value
		switch place.group {
		case "percent":
			shown, written = url.QueryEscape(key), url.QueryEscape(value)
		case "percent twice":
			shown, written = url.QueryEscape(url.QueryEscape(key)), url.QueryEscape(url.QueryEscape(value))
		case "u escapes", "json escaped":
			shown = asciiOnly(key)
		}
		text := strings.NewReplacer("VALUES", "VALUES", "K", shown, "V", written).Replace(place.text)
		plants = append(plants, plant{place.group, text, []string{value}})
	}
	for _, key := range foreignKeys {
		value := d.value()
		plants = append(plants, plant{"key", key + "=" + value, []string{value}}, plant{"key", `{"` + asciiOnly(key) + `":"` + value + `"}`, []string{value}})
	}
	return plants
}

// asciiOnly is a key as json_encode of PHP and json.dumps of Python write it.
func asciiOnly(key string) string {
	var out strings.Builder
	for _, r := range key {
		if r < 0x80 {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}
