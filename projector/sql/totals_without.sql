-- The same as totals.sql, without the rows of some parts.
SELECT toString(book), sum(sign) AS records, sum(toInt64(count) * sign) AS counted, toUInt64(0) AS version, '' AS text
FROM records
WHERE book > 'checkpoint' AND _part NOT IN {without:Array(String)}
GROUP BY book
UNION ALL
SELECT 'checkpoint', toInt64(sign), toInt64(count), version, checkpoint
FROM
(
    SELECT sign, count, version, checkpoint
    FROM records
    WHERE book = 'checkpoint' AND signature = unhex({shard:String}) AND _part NOT IN {without:Array(String)}
    ORDER BY version DESC, sign ASC
    LIMIT 1
)
