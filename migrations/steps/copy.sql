CREATE TABLE {{.Table}} AS {{.From}}.{{.Table}}
