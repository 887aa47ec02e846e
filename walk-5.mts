import { start } from './walk-lib.mts'
const { browser, page, shot, txt, fields } = await start()
await page.goto('/admin/orders/340'); await txt(4000); await shot('order340'); await fields()
console.log(await page.locator('main a').evaluateAll((a:any)=>a.map((x:any)=>x.innerText+' '+x.getAttribute('href')).join('\n')))
await page.getByRole('link',{name:'Ship the goods'}).first().click(); await page.waitForLoadState('load'); await page.waitForTimeout(300)
await txt(2500); await shot('ship340'); await fields()
await browser.close()
