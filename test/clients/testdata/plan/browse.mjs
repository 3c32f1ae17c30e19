// Opens the page in Chromium and lets it send the plan's events.
import { readFileSync } from 'node:fs'
import { chromium } from 'playwright-core'

const [, , executablePath, url] = process.argv
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
const page = await browser.newPage()
page.on('console', (message) => console.log(message.text()))
await page.goto(url)
const lines = readFileSync(process.env.PLAN, 'utf8').trimEnd().split('\n')
await page.evaluate(([projects, events]) => window.send(projects, events), [JSON.parse(process.env.PROJECTS), lines.map((line) => JSON.parse(line))])
await browser.close()
