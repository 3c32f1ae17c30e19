EXCHANGE TABLES {{.Copy}} AND records
