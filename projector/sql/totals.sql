-- How many records each book has, the sum of their counts, and the checkpoint of the
-- same moment. It is read from the ClickHouse projection by_time.
SELECT toString(book), sum(sign) AS records, sum(toInt64(count) * sign) AS counted, toUInt64(0) AS version, '' AS text
FROM records
WHERE book > 'checkpoint'
GROUP BY book
UNION ALL
SELECT 'checkpoint', toInt64(sign), toInt64(count), version, checkpoint
FROM
(
    SELECT sign, count, version, checkpoint
    FROM records
    WHERE book = 'checkpoint' AND signature = unhex({shard:String})
    ORDER BY version DESC, sign ASC
    LIMIT 1
)
