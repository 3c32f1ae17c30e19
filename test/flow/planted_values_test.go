package flow

import (
	"encoding/base64"
	"fmt"
	"math/big"
	"strings"
)

// value is a credential without a key beside it.
type value struct {
	text   string
	needle string // the part of it that must not be found anywhere
}

// plantedValues are credentials of every form that the rules know. Those that can
// contain the mark do; the others are searched by their own digits.
func plantedValues(p *plants) (all []value) {
	marked := func(form string) {
		secret := p.secret("value " + form)
		if upper := strings.ReplaceAll(form, "@@", ""); strings.ToUpper(upper) == upper && !strings.Contains(upper, "-----BEGIN OPENSSH") {
			secret = strings.ToUpper(secret)
		}
		all = append(all, value{strings.ReplaceAll(form, "@@", secret), secret})
	}
	for _, form := range []string{
		"AKIA@@99", "ghp_@@0123456789abcdefABCDEF0123", "gho_@@0123456789abcdefABCDEF0123", "ghs_@@0123456789abcdefABCDEF0123", "github_pat_11@@_abcdefghij0123",
		"glpat-@@-0123456789", "xoxb-123456789012-@@", "xoxp-123456789012-@@", "sk_live_@@0123456789abcdef", "sk_test_@@0123456789abcdef", "rk_live_@@0123456789abcdef",
		"whsec_@@0123456789abcdef", "AIzaSyA@@0123456789abcdefghijklmnopq", "eik_ing_0123456789ab_@@_abcdef", "sk-proj-@@0123456789abcdef",
		"SG.@@.0123456789abcdef0123456789abcdef0123", "Bearer @@", "bearer @@.abc-def_ghi", "Basic @@0==", "Authorization: Token @@",
		"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ@@In0.@@", "postgres://app:@@@db.example:5432/shop", "https://@@0123456789@errors.example/7",
		"app:@@@tcp(db:3306)/shop", "redis://:@@@cache:6379/0", "/home/@@/app/x.txt", `C:\Users\@@\x.txt`, "/Users/@@/x.txt",
		"-----BEGIN PRIVATE KEY-----\nMII@@\n-----END PRIVATE KEY-----", "-----BEGIN RSA PRIVATE KEY-----\nMII@@", "-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl@@\n-----END OPENSSH PRIVATE KEY-----",
	} {
		marked(form)
	}
	plain := p.secret("value in base64")
	coded := base64.StdEncoding.EncodeToString([]byte("user:" + plain))
	all = append(all, value{"Basic " + coded, coded})
	for _, prefix := range []string{"4", "51", "2221", "34", "37", "36", "6011", "62", "3528", "65"} {
		card := cardNumber(prefix, len(all))
		all = append(all, value{card, card}, value{grouped(card, " "), grouped(card, " ")}, value{grouped(card, "-"), grouped(card, "-")})
	}
	for _, country := range []string{"DE", "GB", "FR", "NL", "CH", "AT"} {
		iban := ibanOf(country, len(all))
		all = append(all, value{iban, iban}, value{grouped(iban, " "), grouped(iban, " ")})
	}
	return append(all, value{"123-45-6789", "123-45-6789"}, value{"078-05-1121", "078-05-1121"})
}

// cardNumber is a number of a network's length with a valid Luhn digit.
func cardNumber(prefix string, salt int) string {
	length := map[string]int{"34": 15, "37": 15, "36": 14}[prefix]
	if length == 0 {
		length = 16
	}
	body := prefix + fmt.Sprintf("%015d", 987654321*salt)
	body = body[:length-1]
	sum := 0
	for i := range body {
		digit := int(body[len(body)-1-i] - '0')
		if i%2 == 0 {
			if digit *= 2; digit > 9 {
				digit -= 9
			}
		}
		sum += digit
	}
	return body + fmt.Sprint((10-sum%10)%10)
}

// ibanOf is an account number with valid check digits.
func ibanOf(country string, salt int) string {
	account := fmt.Sprintf("%018d", 123456789012*salt)
	digits := account
	for _, c := range country + "00" {
		if c >= 'A' {
			digits += fmt.Sprint(c - 'A' + 10)
		} else {
			digits += string(c)
		}
	}
	n, _ := new(big.Int).SetString(digits, 10)
	rest := new(big.Int).Mod(n, big.NewInt(97)).Int64()
	return fmt.Sprintf("%s%02d%s", country, 98-rest, account)
}

// grouped splits a number into groups of four.
func grouped(number, sep string) string {
	var groups []string
	for len(number) > 4 {
		groups, number = append(groups, number[:4]), number[4:]
	}
	return strings.Join(append(groups, number), sep)
}

// needles are the mark, as it is and in capitals, and the values that cannot
// contain it.
func needles(values []value) []string {
	list := []string{mark, strings.ToUpper(mark)}
	for _, v := range values {
		if !strings.HasPrefix(strings.ToLower(v.needle), mark) {
			list = append(list, v.needle)
		}
	}
	return list
}

// sendValues sends each value to each receiver, in places without a key.
func sendValues(post poster, k key, values []value) {
	var natives, records []string
	for i, v := range values {
		text := "refused " + v.text + " of the caller"
		text2 := "refused '" + v.text + "'; next"
		list := []any{text, map[string]any{"note": v.text, "deep": []any{text2}}}
		natives = append(natives, asJSON(map[string]any{
			"id": fmt.Sprintf("v-%d", i), "exception_class": fmt.Sprintf("Value%d", i), "file": "src/app.go", "message": text + "\n" + text2,
			"payload": map[string]any{"note": v.text, "list": list}, "request_uri": "/x?note=" + v.text, "user_id": "is " + v.text, "fingerprint": []any{v.text},
			"release": text, "environment": text2, "tags": map[string]any{"note": v.text, text: text2}, "transaction": text, "server_name": text2,
			"contexts": map[string]any{"own": map[string]any{"note": v.text}}, "breadcrumbs": []any{map[string]any{"message": text, "data": map[string]any{"note": text2}}},
			"frames": []any{map[string]any{"file": "src/app.go", "in_app": true, "context": text, "pre": []any{text2, text}, "vars": map[string]any{"note": v.text, "list": list}}},
		}))
		records = append(records, otlpLog([]any{map[string]any{"key": "note", "value": map[string]any{"stringValue": text2}}}, map[string]any{
			"severityNumber": 17, "body": map[string]any{"stringValue": text},
			"attributes": []any{map[string]any{"key": "note", "value": map[string]any{"stringValue": v.text}}},
		}))
		post(message{
			fmt.Sprintf("/api/%d/envelope/", k.project), string(eventEnvelope(asJSON(map[string]any{
				"event_id": fmt.Sprintf("%032x", 0xabc0000+i), "tags": map[string]any{"note": v.text, "url": "https://shop.example/x?note=" + v.text},
				"transaction": text2, "exception": map[string]any{"values": []any{map[string]any{"type": fmt.Sprintf("SentryValue%d", i), "value": text, "stacktrace": map[string]any{
					"frames": []any{map[string]any{"filename": "a.py", "in_app": true, "context_line": text, "post_context": []any{text2}, "vars": map[string]any{"note": v.text, "repr": "'" + v.text + "'"}}},
				}}}},
				"extra": map[string]any{"note": v.text}, "contexts": map[string]any{"own": map[string]any{"note": text2}},
				"breadcrumbs": []any{map[string]any{"message": text, "category": v.text, "data": map[string]any{"note": v.text, "deep": list}}},
				"request":     map[string]any{"url": "https://shop.example/" + strings.ReplaceAll(v.text, " ", "%20"), "headers": map[string]any{"Referer": "https://shop.example/?r=" + v.text, "User-Agent": text}},
			}))), []string{"X-Sentry-Auth", "Sentry sentry_version=7, sentry_key=" + k.public}, 1,
		})
	}
	sendLines(post, k, natives, records)
}
