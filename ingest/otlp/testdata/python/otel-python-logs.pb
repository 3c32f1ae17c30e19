

α
"
telemetry.sdk.language
python
%
telemetry.sdk.name
opentelemetry
!
telemetry.sdk.version
1.45.2
=
service.instance.id&
$1d0a9a30-4dab-4d39-a21b-72b3ce282b5c

service.name
shop

service.version
1.4.2£

shop	Άδ°-1ριERROR*
could not take order 432$
code.file.path
/srv/app/shop.py2 
code.function.name

<module>2
code.line.number2
exception.type

OrderError2&
exception.message
order 43 failed2·
exception.stacktrace
›Traceback (most recent call last):
  File "/srv/app/shop.py", line 18, in load
    {}["sku"]
    ~~^^^^^^^
KeyError: 'sku'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/srv/app/shop.py", line 27, in <module>
    load(43)
  File "/srv/app/shop.py", line 20, in load
    raise OrderError(f"order {n} failed") from e
OrderError: order 43 failed
YA”²-1ρι
ω
α
"
telemetry.sdk.language
python
%
telemetry.sdk.name
opentelemetry
!
telemetry.sdk.version
1.45.2
=
service.instance.id&
$1d0a9a30-4dab-4d39-a21b-72b3ce282b5c

service.name
shop

service.version
1.4.2’

shop‡	Ά«ά-1ριERROR*
during2$
code.file.path
/srv/app/shop.py2 
code.function.name

<module>2
code.line.number!2
exception.type

KeyError2
exception.message
during2Β
exception.stacktrace©
¦Traceback (most recent call last):
  File "/srv/app/shop.py", line 18, in load
    {}["sku"]
    ~~^^^^^^^
KeyError: 'sku'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/srv/app/shop.py", line 31, in <module>
    try: load(44)
         ^^^^^^^^
  File "/srv/app/shop.py", line 20, in load
    raise OrderError(f"order {n} failed") from e
OrderError: order 44 failed

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/srv/app/shop.py", line 32, in <module>
    except OrderError: {}["during"]
                       ~~^^^^^^^^^^
KeyError: 'during'
Y7έ-1ρι
Ψ
α
"
telemetry.sdk.language
python
%
telemetry.sdk.name
opentelemetry
!
telemetry.sdk.version
1.45.2
=
service.instance.id&
$1d0a9a30-4dab-4d39-a21b-72b3ce282b5c

service.name
shop

service.version
1.4.2ρ

shopζ	Άy.1ριERROR*
group2$
code.file.path
/srv/app/shop.py2 
code.function.name

<module>2
code.line.number$2"
exception.type
ExceptionGroup2
exception.message
many2
exception.stacktrace…
‚  + Exception Group Traceback (most recent call last):
  |   File "/srv/app/shop.py", line 35, in <module>
  |     raise ExceptionGroup("many", [ValueError("a"), TypeError("b")])
  | ExceptionGroup: many (2 sub-exceptions)
  +-+---------------- 1 ----------------
    | ValueError: a
    +---------------- 2 ----------------
    | TypeError: b
    +------------------------------------
Yϋ.1ρι