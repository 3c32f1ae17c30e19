ALTER TABLE records MATERIALIZE {{.What}} {{.Name}} SETTINGS mutations_sync = 0
