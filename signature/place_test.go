package signature_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/errata-log/errata/signature"
)

func TestPlaceGolden(t *testing.T) {
	for _, c := range []struct{ file, want string }{
		{"", ""},
		{"main.go", "main.go"},
		{"src/v2/Foo2.php", "src/v2/Foo2.php"},
		{"database/migrations/2026_01_02_create_users.php", "database/migrations/2026_01_02_create_users.php"},
		{"/srv/releases/20261121030405/app/x.php", "/srv/releases/<num>/app/x.php"},
		{"/srv/releases/47/app/x.php", "/srv/releases/<num>/app/x.php"},
		{"/srv/app/47/x.php", "/srv/app/47/x.php"},
		{"build/4f2a9c1b77/main.go", "build/<num>/main.go"},
		{"build/550e8400-e29b-41d4-a716-446655440000/main.go", "build/<num>/main.go"},
		{"static/js/main.4f2a9c1b.js", "static/js/main.<num>.js"},
		{"assets/index-BxYz12_9.js", "assets/index-<num>.js"},
		{"assets/index-BxYz12_9.php", "assets/index-BxYz12_9.php"},
		{"assets/jquery-3.7.1.min.js", "assets/jquery-3.7.1.min.js"},
		{"node_modules/.pnpm/express@4.18.2/node_modules/express/lib/router.js", "node_modules/.pnpm/express@<num>/node_modules/express/lib/router.js"},
		{"pkg/mod/github.com/x/y@v1.2.3/z.go", "pkg/mod/github.com/x/y@<num>/z.go"},
		{"node_modules/@sentry/node/index1.js", "node_modules/@sentry/node/index1.js"},
	} {
		if got := signature.Place(c.file); got != c.want {
			t.Errorf("Place(%q) = %q, want %q", c.file, got, c.want)
		}
	}
}

func TestPlaceIsIdempotent(t *testing.T) {
	piece := rapid.SampledFrom([]string{"/", "releases", "20261121", "4f2a9c1b", "a", "v1", "@", ".js", ".", "-", "BxYz12_9", "<num>", "550e8400-e29b-41d4-a716-446655440000", "é"})
	rapid.Check(t, func(t *rapid.T) {
		file := ""
		for _, p := range rapid.SliceOfN(piece, 0, 10).Draw(t, "pieces") {
			file += p
		}
		once := signature.Place(file)
		if twice := signature.Place(once); twice != once {
			t.Fatalf("not idempotent for %q: %q, then %q", file, once, twice)
		}
	})
}
