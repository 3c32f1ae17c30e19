-- Without the bound that a server may set for tables: the rows stand in records.
DROP TABLE IF EXISTS {{.Copy}} SYNC SETTINGS max_table_size_to_drop = 0
