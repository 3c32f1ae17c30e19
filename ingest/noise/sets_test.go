package noise_test

import (
	"net/netip"
	"testing"

	"github.com/errata-log/errata/ingest/noise"
	"github.com/errata-log/errata/projects"
)

func agent(text string) noise.Sighting { return noise.Sighting{UserAgent: text} }
func says(text string) noise.Sighting  { return noise.Sighting{Message: text} }
func sent(text string) noise.Sighting  { return noise.Sighting{Sent: text, File: "main.js"} }
func from(ip string) noise.Sighting    { return noise.Sighting{IP: netip.MustParseAddr(ip)} }

func thrown(class, message string) noise.Sighting {
	return noise.Sighting{Class: class, Message: message}
}

// sets has, for each ready set, what clients really send: what it is for, and what is
// close to it and is not.
//
// long: it is a table.
var sets = map[string]struct{ hits, misses []noise.Sighting }{
	"browser-extensions": {
		hits: []noise.Sighting{
			sent("chrome-extension://nkbihfbeogaeaoehlefnkodbefgpgknn/scripts/inpage.js"),
			sent("moz-extension://f4d9a5ae-3a1e-4a7e-8b2e-0a3d8a3e7c11/content.js"),
			sent("safari-web-extension://5A6F8E0C-1B2D-4C3E-9F7A-8D6C5B4A3E2F/contentScript.js"),
			sent("webkit-masked-url://hidden/"),
			sent("https://gc.kaspersky-labs.com/FD126C42-EBFA-4E12-B309-BB3FDD723AC1/main.js"),
			says("Extension context invalidated."),
			says("TypeError: can't access dead object"),
			says("Could not establish connection. Receiving end does not exist."),
			says("Cannot redefine property: ethereum"),
			says("Can't find variable: _gCrWeb"),
			says("Failed to fetch chrome-extension://aapbdbdomjkkjkaonfhkkikfgjllcleb/options.json"),
		},
		misses: []noise.Sighting{
			sent("https://shop.example/assets/main-4f2a.js"),
			sent("https://shop.example/extension/chrome.js"),
			sent("app:///node_modules/@acme/browser-extension/index.js"),
			says("Cannot redefine property: cart"),
			says("The PHP extension redis is missing"),
			says("can't access property \"id\", item is undefined"),
			says("Could not establish connection. The server does not answer."),
		},
	},
	"crawlers": {
		hits: []noise.Sighting{
			agent("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"),
			agent("Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0.1938.76 Safari/537.36"),
			agent("Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)"),
			agent("Mozilla/5.0 (compatible;PetalBot;+https://webmaster.petalsearch.com/site/petalbot)"),
			agent("Mozilla/5.0 (compatible; PetalBot;+https://webmaster.petalsearch.com/site/petalbot)"),
			agent("Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)"),
			agent("Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)"),
			agent("Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)"),
			agent("Mozilla/5.0 (compatible; Baiduspider/2.0; +http://www.baidu.com/search/spider.html)"),
			agent("Mozilla/5.0 (compatible; Yahoo! Slurp; http://help.yahoo.com/help/us/ysearch/slurp)"),
			agent("facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"),
			agent("meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)"),
			agent("Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"),
			agent("Twitterbot/1.0"),
			agent("WhatsApp/2.23.20.0"),
			agent("Pingdom.com_bot_version_1.4_(http://www.pingdom.com/)"),
			agent("Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)"),
			agent("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/109.0.0.0 Safari/537.36 Chrome-Lighthouse"),
			agent("AdsBot-Google (+http://www.google.com/adsbot.html)"),
			says("Non-Error promise rejection captured with value: Object Not Found Matching Id:3, MethodName:update, ParamCount:4"),
		},
		misses: []noise.Sighting{
			agent("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36"),
			agent("Mozilla/5.0 (Linux; Android 9; CUBOT_X19 Build/PPR1.180610.011) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/91.0.4472.120 Mobile Safari/537.36"),
			agent("Mozilla/5.0 (Linux; Android 10; CUBOT) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/91.0.4472.120 Mobile Safari/537.36"),
			agent("Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.2; Trident/6.0)"),
			agent("Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 333.0.0.33.111"),
			agent("curl/8.5.0"),
			agent("python-requests/2.32.3"),
			says("Object of the cart was not found"),
			says("Googlebot was refused"), // about one, not of one
		},
	},
	"local-hosts": {
		hits: []noise.Sighting{
			from("127.0.0.1"), from("127.8.0.1"), from("::1"), from("::ffff:127.0.0.1"),
			sent("http://localhost:3000/static/js/bundle.js"), sent("http://localhost/app.js"), sent("https://shop.localhost:8443/main.js"),
			sent("http://127.0.0.1:5173/src/main.ts"), sent("http://[::1]:8080/app.js"),
		},
		misses: []noise.Sighting{
			from("128.0.0.1"), from("10.0.0.1"), from("::2"), from("2001:db8::1"), {},
			sent("https://localhost.example.com/app.js"), sent("https://shop.example/localhost/app.js"), sent("https://mylocalhost.example:8443/app.js"),
			sent("http://192.127.0.0.1.example/app.js"),
			says("connection to localhost:5432 refused"),
		},
	},
	"cancelled-requests": {
		hits: []noise.Sighting{
			thrown("AbortError", "The user aborted a request."),
			thrown("AbortError", "The operation was aborted. "),
			thrown("DOMException", "AbortError: signal is aborted without reason"),
			thrown("UnhandledRejection", "AbortError: The operation was aborted."),
			thrown("CanceledError", "canceled"), // axios
			thrown("AxiosError", "Request aborted"),
			thrown("*errors.errorString", "context canceled"),
			thrown("*url.Error", `Get "https://api.example/v1": context canceled`),
			thrown("*net.OpError", "write tcp 10.0.0.1:8080->10.0.0.2:51234: write: broken pipe"),
			thrown("asyncio.exceptions.CancelledError", ""),
			thrown("starlette.requests.ClientDisconnect", ""),
			thrown("kotlinx.coroutines.JobCancellationException", "Job was cancelled"),
			thrown("org.apache.catalina.connector.ClientAbortException", "java.io.IOException: Broken pipe"),
			thrown("System.OperationCanceledException", "The operation was canceled."),
			thrown("System.Threading.Tasks.TaskCanceledException", "A task was canceled."),
			thrown("Error", `Error Domain=NSURLErrorDomain Code=-999 "cancelled"`),
			thrown("Error", "NS_BINDING_ABORTED"),
		},
		misses: []noise.Sighting{
			thrown("*errors.errorString", "context deadline exceeded"),
			thrown("System.Threading.Tasks.TaskCanceledException", "The request was canceled due to the configured HttpClient.Timeout of 100 seconds elapsing."),
			thrown("TimeoutError", "The operation was aborted due to timeout"),
			thrown("TypeError", "Failed to fetch"),
			thrown("OrderError", "order 7 was canceled by the customer"),
			thrown("PDOException", "current transaction is aborted, commands ignored until end of transaction block"),
			thrown("*net.OpError", "read tcp 10.0.0.1:51234->10.0.0.2:5432: read: connection reset by peer"),
			thrown("Error", `Error Domain=NSURLErrorDomain Code=-1009 "The Internet connection appears to be offline."`),
			thrown("AxiosError", "Request failed with status code 500"),
		},
	},
}

// TestReadySets: each set matches what it is for, and not what is close to it.
func TestReadySets(t *testing.T) {
	if len(sets) != len(projects.NoiseSets()) {
		t.Errorf("%d sets are tested, there are %d", len(sets), len(projects.NoiseSets()))
	}
	for _, set := range projects.NoiseSets() {
		table := sets[set.Key]
		if len(table.hits) == 0 || len(table.misses) == 0 {
			t.Errorf("%s has no table", set.Key)
		}
		rules := noise.Compile([]projects.Rule{{Set: set.Key, Action: "mute"}})
		for _, s := range table.hits {
			if !rules.Decide(&s).Mute {
				t.Errorf("%s does not match %+v", set.Key, s)
			}
		}
		for _, s := range table.misses {
			if rules.Decide(&s).Mute {
				t.Errorf("%s matches %+v", set.Key, s)
			}
		}
	}
}

// TestRulesOfSets: each is one that somebody could choose.
func TestRulesOfSets(t *testing.T) {
	for _, set := range projects.NoiseSets() {
		for _, look := range set.Rules {
			if noise.Compile([]projects.Rule{{Field: look.Field, Match: look.Match, Action: "drop"}}) == nil {
				t.Errorf("%s: %+v is no rule", set.Key, look)
			}
		}
	}
}
