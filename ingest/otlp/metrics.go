package otlp

import (
	"github.com/VictoriaMetrics/easyproto"
	"github.com/go-faster/jx"

	errata "github.com/errata-log/errata"
	"github.com/errata-log/errata/ingest/lenient"
)

// countPoints counts the data points of a metrics request, so that the answer can
// say that they are not kept. An invalid request is an error, so that somebody
// notices a broken exporter.
func countPoints(request []byte, enc encoding) (partialSuccess, error) {
	partial := partialSuccess{message: "metrics are not kept here; send them to a metrics store"}
	var err error
	if enc == jsonText {
		partial.rejected, err = countJSON(request)
	} else {
		partial.rejected, err = countProto(request)
	}
	if err != nil {
		return partialSuccess{}, errata.Errorf(errata.KindInvalidBody, "the body is not a valid request of %s", metrics.path).Because(err)
	}
	return partial, nil
}

// countProto counts the field data_points, which has number 1 in each kind of
// metric: gauge 5, sum 7, histogram 9, exponential histogram 10, summary 11.
func countProto(request []byte) (points int, err error) {
	err = eachMessage(request, fieldResources, func(part []byte) error {
		return eachMessage(part, fieldScopes, func(part []byte) error {
			return eachMessage(part, fieldRecords, func(metric []byte) error {
				return each(metric, func(fc *easyproto.FieldContext) error {
					switch fc.FieldNum {
					case 5, 7, 9, 10, 11:
						data, _ := fc.MessageData()
						return eachMessage(data, 1, func([]byte) error { points++; return nil })
					}
					return nil
				})
			})
		})
	})
	return points, err
}

func countJSON(request []byte) (points int, err error) {
	d := lenient.Read(request)
	if d.Next() != jx.Object {
		return 0, errNotObject
	}
	err = eachRaw(d, metrics.resources, func(part []byte) error {
		return eachRaw(lenient.Read(part), metrics.scopes, func(part []byte) error {
			return eachRaw(lenient.Read(part), metrics.records, func(metric []byte) error {
				d := lenient.Read(metric)
				return lenient.Object(d, d, func(d *lenient.Reader, _ []byte) error {
					return eachRaw(d, "dataPoints", func([]byte) error { points++; return nil })
				})
			})
		})
	})
	if err == nil && !d.AtEnd() {
		err = errNotObject
	}
	return points, err
}
