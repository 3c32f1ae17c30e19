// Package geo is the location module "mmdb": it tells the country of an address,
// and region and city where the database knows them, from a file in MaxMind's
// DB format on the service's own disk.
//
// No address ever leaves the machine. The package ships no data: [Install] brings
// a freely licensed country database by npm, and any other one can be put into the
// folder instead. It must not decide what an unfamiliar location means; that is
// package signin's.
//
// Such a database knows where a block of addresses is registered. For about 3
// in 100 addresses a commercial database names another country.
package geo
