SELECT environment, release, sum(count) AS seen, min(first_seen) AS first, max(last_seen) AS last
FROM deployments
WHERE book = {book:String}
    AND signature = toFixedString(unhex({signature:String}), 16)
    AND id = {id:UInt64}
    AND count > 0
GROUP BY environment, release
