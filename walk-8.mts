import { start } from './walk-lib.mts'
const { browser, page, shot, txt, fields } = await start()
const L=async()=>{await page.waitForLoadState('load'); await page.waitForTimeout(300)}
const links=async()=>console.log(await page.locator('main a').evaluateAll((a:any)=>a.map((x:any)=>x.innerText+' '+x.getAttribute('href')).join(' ; ')))
for (const t of ['Sale','Refund']) { await page.goto('/admin/orders/351/payments'); await page.getByRole('link',{name:/Make void/}).first().click(); await L(); await page.locator('[name=Reason]').fill('entered wrongly'); await page.getByRole('button',{name:'Make it void'}).click(); await L(); await txt(250) }
await page.goto('/admin/orders/351/payments'); await txt(900); await shot('pay351c')
await page.locator('[name=TransactionAmount]').fill('486.30'); console.log('type', await page.locator('[name=TransactionType]').inputValue()); await page.getByRole('button',{name:'Record it'}).click(); await L(); await shot('order351-final'); console.log((await page.locator('main').innerText()).replace(/\n+/g,' | '))
for (const id of [595, 356]) { await page.goto('/admin/products/'+id); await txt(4000); await links(); await fields(); await shot('product'+id) }
await page.goto('/admin/orders/3/returns/21').catch(()=>0); await txt(500)
await browser.close()
