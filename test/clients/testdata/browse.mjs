// Opens a page in Chromium and clicks the elements that the arguments name, each
// after the requests of the previous click were answered. Prints the requests and
// answers that the browser saw, one JSON object a line.
import { chromium } from 'playwright-core'

const [, , executablePath, url, receiver, ...clicks] = process.argv
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
const page = await browser.newPage()
const print = (line) => console.log(JSON.stringify(line))
page.on('console', (message) => print({ console: message.text() }))
page.on('requestfailed', (request) => print({ failed: request.url(), why: request.failure().errorText }))
page.on('response', async (response) => {
  if (!response.url().startsWith(receiver)) return
  print({ status: response.status(), method: response.request().method(), sent: await response.request().allHeaders(), got: response.headers() })
})
await page.goto(url)
for (const id of clicks) {
  // Sessions are sent as well; an event's envelope says so in its second line.
  const isEvent = (response) => response.url().startsWith(receiver) && /^\{"type":"event"/m.test(response.request().postData() ?? '')
  const answered = page.waitForResponse(isEvent, { timeout: 30000 })
  await page.click(`#${id}`)
  await (await answered).finished()
}
// The page of another origin also sends a header of its own, which needs a
// preflight, and reads the answer.
print(await page.evaluate(async (receiver) => {
  const url = new URL(new URLSearchParams(location.search).get('dsn'))
  const answer = await fetch(`${receiver}/api${url.pathname}/envelope/`, {
    method: 'POST', body: '{}\n', headers: { 'X-Sentry-Auth': `Sentry sentry_version=7, sentry_key=${url.username}`, 'Content-Type': 'application/x-sentry-envelope' },
  })
  return { preflight: answer.status, text: await answer.text() }
}, receiver))
await browser.close()
