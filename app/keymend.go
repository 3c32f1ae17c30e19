package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/errata-log/errata/access"
	"github.com/errata-log/errata/migrations"
)

// keyCopies is the file of copies of the keys, below the data folder.
const keyCopies = "keys.copy"

// mendKeys looks through the bucket of keys before it is used. Servers of somebody
// else's keep copies of their own.
func (a *App) mendKeys(ctx context.Context) error {
	if a.options.NATSURL != "" {
		return nil
	}
	mended, err := access.Mend(ctx, a.engines.JetStream(), migrations.KeysBucket(a.options.Namespace), a.dir.Join(keyCopies))
	if err != nil {
		return err
	}
	if len(mended.Damaged) == 0 && mended.History == 0 {
		return nil
	}
	detail := fmt.Sprintf("the bucket of API keys (stream KV_%s) was damaged on the disk: %d entries (%s) and %d older states could not be read",
		migrations.KeysBucket(a.options.Namespace), len(mended.Damaged), strings.Join(mended.Damaged, ", "), mended.History)
	if len(mended.Lost) == 0 {
		a.alarms.Raise("keys-damaged", detail+"; all keys were written anew from the copy in "+keyCopies,
			"no key is missing; check the disk. The alarm ends with the next start")
		return nil
	}
	a.alarms.Raise("keys-damaged", detail+"; there is no copy of "+strings.Join(mended.Lost, ", "),
		"make new keys in their place (errata keys create; touch DATA/keys/make-missing and restart when there is no admin key), and check the disk. The alarm ends with the next start")
	return nil
}
