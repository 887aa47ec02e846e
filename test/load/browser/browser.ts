import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { AxeResults } from 'axe-core'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'
import type { TestPerson } from '../../support/person.ts'
import { openServer, type TestServer } from '../../support/store.ts'

/** Where Debian and others put a browser that playwright-core can drive; one without windows takes a quarter less time. */
const places = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/opt/google/chrome/chrome',
]

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
]

const executablePath = [process.env.BROWSER ?? '', ...places].find((path) => path !== '' && existsSync(path))

/** Without a browser these tests are left out, unless REQUIRE_BROWSER says that there must be one. */
export const hasBrowser = executablePath !== undefined || process.env.REQUIRE_BROWSER === 'true'

const screenshots = fileURLToPath(new URL('../../../test-output/screenshots/', import.meta.url))

export interface ListeningServer extends TestServer {
  /** Such as http://localhost:40123; its PUBLIC_URL. */
  readonly origin: string
}

/** The whole application on a port of its own, in the present time, which may call this machine. */
export async function openListeningServer(): Promise<ListeningServer> {
  const port = await freePort()
  const server = await openServer({ PORT: String(port), OUTBOUND_ALLOW: '127.0.0.0/8', DEVELOPER_SIGNUP: 'open' })
  server.clock.ms = Date.now()
  await server.app.listen({ host: '127.0.0.1', port })
  return { ...server, origin: `http://localhost:${port}` }
}

type Listening = Pick<ListeningServer, 'origin' | 'close'>
interface Browsing {
  /** What the console of any page says is wrong: an error of a script, what the content policy keeps out. */
  readonly faults: string[]
  /** A page of a browser that nobody has used yet, or in which somebody has signed in already. */
  readonly visit: (person?: Pick<TestPerson, 'cookies'>, options?: BrowserContextOptions) => Promise<Page>
}

export type Stage = ListeningServer & Browsing

/** A listening server and a browser, which end together. */
export async function openStage(): Promise<Stage> {
  return openBrowser(await openListeningServer())
}

/** Adds a browser to a server. */
export async function openBrowser<Server extends Listening>(server: Server): Promise<Server & Browsing> {
  if (executablePath === undefined) throw new Error(`No browser in ${places.join(', ')}, and BROWSER names none`)
  const browser = await chromium.launch({ executablePath, args: flags })
  const faults: string[] = []
  return {
    ...server,
    faults,
    visit: async ({ cookies } = { cookies: new Map() }, options = {}) => {
      const context = await openContext(browser, faults, { baseURL: server.origin, ...options })
      await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: server.origin })))
      return context.newPage()
    },
    close: async () => {
      await browser.close()
      await server.close()
    },
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  probe.once('listening', resolve).once('error', reject)
  await promise
  const { port } = probe.address() as { port: number }
  await new Promise((done) => probe.close(done))
  return port
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const desk = { width: 1280, height: 850 }
const phone = { width: 390, height: 844 }

/** Both sizes and both schemes, of which each has rules of its own to break. */
const looks = [
  { look: 'desk', viewport: desk, colorScheme: 'light', rules: null },
  // What a page can break in another size or scheme alone; all else is in its elements, which are the same.
  {
    look: 'phone-dark',
    viewport: phone,
    colorScheme: 'dark',
    rules: ['color-contrast', 'scrollable-region-focusable'],
  },
] as const

const phoneWidths = [320, phone.width]
/** That of a desk at 200 %, where tables may scroll in their place. */
const zoomed = { width: 640, height: 450 }

/** What is wider than its room: the page, or a part of it that scrolls by itself. Fields scroll what is typed. */
const sideways = `[...document.querySelectorAll('*:not(input, textarea, select)')]
  .filter((each) => each === document.documentElement || /auto|scroll/.test(getComputedStyle(each).overflowX))
  .filter((each) => each.scrollWidth > each.clientWidth)
  .map((each) => each.outerHTML.slice(0, 150))`

/** By how much the page is wider than the window. */
const overhang = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'

/** The language in which people look: its words are the longest. */
export const german = { locale: 'de-DE' } as const

/**
 * Looks at a page as people do: at a desk, and on phones in the dark. It has one heading, breaks no accessibility rule and never scrolls
 * sideways, and on a phone nothing in it does. With SCREENSHOTS set, its pictures are kept in test-output/screenshots.
 */
export async function inspect(page: Page, name: string): Promise<void> {
  expect(await page.locator('h1').count(), name).toBe(1)
  await page.evaluate(axe)
  for (const { look, viewport, colorScheme, rules } of looks) {
    await page.setViewportSize(viewport)
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    if (process.env.SCREENSHOTS)
      await page.screenshot({ path: join(screenshots, `${name}-${look}.png`), fullPage: true })
    const options = { resultTypes: ['violations'], preload: false, ...(rules && { runOnly: rules }) }
    const { violations } = (await page.evaluate(`axe.run(${JSON.stringify(options)})`)) as AxeResults
    const found = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 150)).join(' | ')}`)
    expect({ name, look, found }).toMatchObject({ found: [] })
    expect({ name, look, overhang: await page.evaluate(overhang) }).toMatchObject({ overhang: 0 })
  }
  for (const width of phoneWidths) {
    await page.setViewportSize({ ...phone, width })
    expect({ name, width, sideways: await page.evaluate(sideways) }).toMatchObject({ sideways: [] })
  }
  await page.setViewportSize(zoomed)
  expect({ name, zoomed: await page.evaluate(overhang) }).toMatchObject({ zoomed: 0 })
  await page.setViewportSize(desk)
}

/** A context whose pages note what the browser's console shows as an error: a foreign host that is asked, too. */
async function openContext(
  browser: Browser,
  faults: string[],
  options: BrowserContextOptions,
): Promise<BrowserContext> {
  const permissions = ['clipboard-read', 'clipboard-write']
  const context = await browser.newContext({ permissions, viewport: desk, ...options })
  // Below the time of a test, so that what was waited for is told.
  context.setDefaultTimeout(10_000)
  context.on('console', (message) => {
    // A page that a form was refused on is a 4xx or 502, which the console tells too.
    if (message.type() === 'error' && !/status of (4\d\d|502)/.test(message.text())) faults.push(message.text())
  })
  context.on('weberror', (error) => faults.push(String(error.error())))
  return context
}
