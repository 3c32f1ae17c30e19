-- What rules have counted of projects, period by period.
SELECT toString(counting), toString(book), project, if(book = 'quiet', 0, minute) AS at, sum(count), max(seen), max(last)
FROM activity
WHERE book IN ('spike', 'quiet') AND has({countings:Array(String)}, toString(counting)) AND minute >= if(book = 'quiet', {quiet_since:Int64}, {since:Int64})
GROUP BY counting, book, project, at
ORDER BY at
