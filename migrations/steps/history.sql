INSERT INTO {{.History}} SELECT * FROM {{.From}}.{{.History}}
