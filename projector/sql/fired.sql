-- When each rule has last fired for each record, and for each project, up to a place on the
-- log. Those of projects are up to where their events are counted.
SELECT rule, toString(if(cause IN ('spike', 'quiet'), cause, '')) AS why, if(why = '', id, 0) AS record, if(why = '', 0, project) AS of,
    max(toUnixTimestamp64Milli(clock)), max(position)
FROM firings
WHERE book != 'checkpoint' AND position < if(cause IN ('spike', 'quiet'), {counted:UInt64}, {until:UInt64})
  AND clock > fromUnixTimestamp64Milli(if(cause = 'quiet', {quiet_since:Int64}, {since:Int64}), 'UTC')
GROUP BY rule, why, record, of
