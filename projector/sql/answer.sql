SELECT checkpoint FROM records WHERE book = 'checkpoint' AND signature = unhex({key:String}) LIMIT 1
SETTINGS use_skip_indexes = 0
