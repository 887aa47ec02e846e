import { chromium } from 'playwright-core'
import { readFileSync, existsSync } from 'node:fs'
const S='/dev/shm/look/w/state.json'
export async function start(o: any = {}) {
  const log = readFileSync('/dev/shm/look/log', 'utf8')
  const password = /Merchant\s+merchant@sandbox\S* password (\S+)/.exec(log)![1]
  const browser = await chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox'] })
  const context = await browser.newContext({ baseURL: 'http://localhost:4871', locale: o.locale ?? 'en-US', colorScheme: o.scheme ?? 'light', javaScriptEnabled: o.js ?? true, viewport: { width: o.width ?? 1280, height: o.height ?? 900 }, storageState: existsSync(S) ? S : undefined, acceptDownloads: true })
  const page = await context.newPage()
  page.setDefaultTimeout(6000)
  page.on('response', (r:any) => { if (r.status() >= 400) console.log('!!', r.status(), r.request().method(), r.url()) })
  page.on('pageerror', (e:any) => console.log('!! pageerror', e.message))
  page.on('console', (m:any) => { if (m.type()==='error') console.log('!! console', m.text()) })
  page.on('dialog', (d:any) => { console.log('DIALOG', d.message()); d.accept() })
  if (!existsSync(S)) {
    await page.goto('/admin/sign-in?store=https%3A%2F%2Fsandbox.store-platform.test')
    await page.locator('[name=Email]').fill('merchant@sandbox.store-platform.test')
    await page.locator('[name=Password]').fill(password)
    await page.locator('main button[type=submit]').first().click()
    await page.waitForURL('**/admin')
    await context.storageState({ path: S })
  }
  const shot = async (n: string, full = true) => { await page.screenshot({ path: `/dev/shm/look/w/${n}.png`, fullPage: full });
   const ov = o.js===false ? '' : await page.evaluate('document.documentElement.scrollWidth+" "+document.documentElement.scrollHeight'); console.log('SHOT', n, page.url(), ov) }
  const txt = async (max = 4000, sel='main') => { console.log('TEXT', page.url(), '\n' + (await page.locator(sel).first().innerText()).replace(/\n{2,}/g,'\n').slice(0, max)) }
  const fields = async (sel='main') => { console.log('FIELDS', (await page.evaluate(`[...document.querySelectorAll('${sel} input,${sel} select,${sel} textarea,${sel} button,${sel} summary')].map(e=>e.tagName[0]+':'+(e.type||'')+':'+(e.name||'')+':'+(e.tagName==='SELECT'?[...e.options].map(o=>o.text).join('|').slice(0,150):e.tagName==='BUTTON'||e.tagName==='SUMMARY'?e.innerText.trim():(e.value||'').slice(0,40))+(e.offsetParent?'':' (hidden)')).filter(x=>!/:hidden:/.test(x)).join('\\n')`))) }
  return { browser, context, page, shot, txt, fields }
}
