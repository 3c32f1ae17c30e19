-- How many records a cleanup removes, in both books.
SELECT sum(sign)
FROM records
WHERE book != 'checkpoint' AND last_seen <= fromUnixTimestamp64Milli({before:Int64})
