import { start } from './walk-lib.mts'
const { browser, page, shot, txt, fields } = await start()
const L=async()=>{await page.waitForLoadState('load'); await page.waitForTimeout(400)}
await page.goto('/admin/orders/351/payments'); await txt(1500); await fields(); await shot('pay351b')
for (let i=0;i<2;i++){ await page.goto('/admin/orders/351/payments'); const l=page.getByRole('link',{name:/Make void/}); if(!await l.count()) break
 await l.first().click(); await L(); await txt(1200); await fields(); await shot('void351'); const b=page.locator('main button[type=submit]').last(); console.log('BTN',await b.innerText()); await b.click(); await L(); await txt(1100) }
await page.goto('/admin/orders/351'); await shot('voided351'); console.log((await page.locator('main').innerText()).replace(/\n+/g,' | '))
await page.goto('/admin/orders/351/payments'); await page.locator('[name=TransactionAmount]').fill('486.30'); await page.getByRole('button',{name:'Record it'}).click(); await L(); await txt(200)
console.log('--- return'); await page.goto('/admin/orders/3/returns/new'); 
await page.locator('[name="Item.10.ReturnQuantity"]').fill('1'); await page.locator('[name="Item.10.ReceivedQuantity"]').fill('1'); await page.locator('[name="Item.10.RestockQuantity"]').fill('1')
await page.getByRole('button',{name:'Work out'}).click(); await L(); await txt(2000); await shot('return-work')
await page.getByRole('button',{name:'Add the return'}).click(); await L(); await txt(2500); await fields(); await shot('return-done')
await page.goto('/admin/orders/3'); await txt(1500); await shot('order3-return')
await browser.close()
