// Clicks through the page of kinds.
import { chromium } from 'playwright-core'

const [, , executablePath, url] = process.argv
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] })
const page = await browser.newPage()
await page.goto(url)
await page.click('#go')
await page.waitForFunction(() => document.title === 'done', undefined, { timeout: 40000 })
await page.click('#boom')
await page.waitForFunction(() => document.title === 'over', undefined, { timeout: 40000 })
await browser.close()
