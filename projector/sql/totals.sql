-- How many records each book has, the sum of their counts, and the checkpoint of the
-- same moment. The ClickHouse projection by_count has these sums for each count. There
-- are few different counts, so 10 M records take as long as one.
SELECT toString(book), sum(alive) AS records, sum(toInt64(count) * alive) AS counted, toUInt64(0) AS version, '' AS text
FROM
(
    SELECT book, count, sum(sign) AS alive
    FROM records
    WHERE book > 'checkpoint'
    GROUP BY book, count
)
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
