import { start } from './walk-lib.mts'
const { browser, page, shot, txt, fields } = await start()
for (let n=306;n<345;n++) { const r=await page.goto('/admin/orders/'+n); if(r!.status()!=200) {console.log(n,r!.status());break}; const t=(await page.locator('main').innerText()).replace(/\n+/g,' | '); if(/New|Process|Unpaid|Partial|Hold|Review/.test(t.slice(0,45))) console.log(n, t.slice(8,200)) }
await browser.close()
