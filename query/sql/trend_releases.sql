{{- /* The key finds the rows of the record. Of many releases only the first ones get
rows of their own, so that the answer is bounded. */ -}}
SELECT least(place, {releases:UInt64} + 1) AS slot, any(release) AS name, bucket, sum(events) AS seen, max(place) AS last_place
FROM
(
    SELECT release, bucket, events, dense_rank() OVER (ORDER BY of_release DESC, release ASC) AS place
    FROM
    (
        SELECT release, bucket, events, sum(events) OVER (PARTITION BY release) AS of_release
        FROM
        (
            SELECT release, intDiv(toUnixTimestamp64Milli(time) - 1000 * {from:Int64}, 1000 * {step:Int64}) AS bucket, count() AS events
            FROM occurrences
            WHERE book = {book:String}
                AND signature = toFixedString(unhex({signature:String}), 16)
                AND id = {id:UInt64}
                AND number <= {count:UInt64}
                AND time >= fromUnixTimestamp64Milli(1000 * {from:Int64}, 'UTC') AND time < fromUnixTimestamp64Milli(1000 * {to:Int64}, 'UTC')
            GROUP BY release, bucket
        )
    )
)
GROUP BY slot, bucket
ORDER BY slot, bucket
