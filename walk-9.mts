import { start } from './walk-lib.mts'
const { browser, page, shot, txt, fields } = await start()
const L=async()=>{await page.waitForLoadState('load'); await page.waitForTimeout(300)}
const step=async(n:string,f:any)=>{console.log('#####',n);try{await f()}catch(e:any){console.log('ERR',n,e.message.slice(0,300))}}
await step('stock',async()=>{await page.goto('/admin/products/595/stock'); console.log(await page.locator('[name=Cause]:checked').count()); 
 await page.locator('[name=Cause][value=set]').check(); await page.locator('[name=Quantity]').fill('9'); await page.locator('[name=Note]').fill('Counted'); await page.getByRole('button',{name:'Correct the stock'}).click(); await L(); await txt(900); await shot('stock595-done') })
await step('price',async()=>{await page.goto('/admin/products/595/prices'); 
 await page.locator('[name="SKUInfo.Price"]').fill('$149,95'); await page.getByRole('button',{name:'Save',exact:true}).last().click(); await L(); await txt(300)
 await page.locator('[name="SKUInfo.Price"]').fill('149.95'); await page.getByRole('button',{name:'Save',exact:true}).last().click(); await L(); await txt(300); await shot('price-saved',false) })
await step('history',async()=>{await page.goto('/admin/history'); await txt(2500); await fields(); await shot('history'); console.log((await page.locator('main a').evaluateAll((a:any)=>a.map((x:any)=>x.innerText+' '+x.getAttribute('href')).slice(0,30).join(' ; '))))})
await step('audit',async()=>{await page.goto('/admin/audit'); await txt(1500); await shot('audit',false)})
await step('desc',async()=>{await page.goto('/admin/products/595/edit?section=description'); const ed=page.locator('[contenteditable]').first(); await ed.click(); await page.keyboard.press('Control+End'); await page.keyboard.type(' New: also in green.'); await page.getByRole('button',{name:'Save',exact:true}).last().click(); await L(); await txt(200); await page.mouse.wheel(0,1200); await page.waitForTimeout(500); await shot('desc-saved',false)})
await step('sets',async()=>{await page.goto('/admin/products/356/options'); await page.getByRole('link',{name:'Edit the option sets'}).click(); await L(); await txt(2500); await fields(); await shot('optionsets')})
await step('bulk',async()=>{await page.goto('/admin/products?find=dutch+oven'); await page.locator('[name=ids]').nth(0).check(); await page.locator('[name=ids]').nth(1).check();await page.locator('[name=ids]').nth(2).check(); await shot('bulk1',false); await page.getByRole('button',{name:/Change price/}).click(); await L(); await txt(2500); await fields(); await shot('bulk2')})
await browser.close()
