ALTER TABLE records MATERIALIZE PROJECTION {{.Projection}} SETTINGS mutations_sync = 0
