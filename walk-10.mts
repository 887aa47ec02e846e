import { start } from './walk-lib.mts'
const { browser, page, shot, txt, fields } = await start()
const L=async()=>{await page.waitForLoadState('load'); await page.waitForTimeout(300)}
const links=async()=>console.log((await page.locator('main a').evaluateAll((a:any)=>a.map((x:any)=>x.innerText+' '+x.getAttribute('href')).slice(0,60).join(' ; '))))
const step=async(n:string,f:any)=>{console.log('#####',n);try{await f()}catch(e:any){console.log('ERR',n,e.message.slice(0,300))}}
await step('putback',async()=>{await page.goto('/admin/history?of=&by='); await txt(600); await page.goto('/admin/history');
 const row=page.locator('tr',{hasText:'141.95'}).first(); await row.getByRole('button',{name:/Put back/}).click(); await L(); await txt(1200); await shot('putback'); await fields(); await page.locator('main button[type=submit]').first().click(); await L(); await txt(400); await shot('putback-done',false)})
await step('bulk',async()=>{await page.goto('/admin/csv/1/change'); await page.locator('[name=Value]').fill('5'); await page.getByRole('button',{name:/becomes of the prices/}).click(); await L(); await page.waitForTimeout(1500); await txt(2500); await fields(); await links(); await shot('bulk3')
 await page.locator('main button[type=submit]').first().click(); await L(); await page.waitForTimeout(2000); await txt(1800); await fields(); await links(); await shot('bulk4')})
await step('imports',async()=>{await page.goto('/admin/csv'); await txt(1500); await links(); await shot('csv',false)})
await step('customer',async()=>{await page.goto('/admin/customers/588'); await txt(3000); await links(); await fields(); await shot('customer588')})
await step('customer new',async()=>{await page.goto('/admin/customers/new'); await txt(2000); await fields(); await shot('customernew')})
await step('records',async()=>{await page.goto('/admin/records'); await txt(1500); await links(); await shot('records',false)})
await step('settings',async()=>{await page.goto('/admin/settings'); await txt(2500); await links(); await shot('settings')})
await step('people',async()=>{await page.goto('/admin/people'); await txt(1500); await fields(); await shot('people')})
await step('account',async()=>{await page.goto('/admin/account'); await txt(1500); await fields(); await shot('account')})
await step('orders',async()=>{await page.goto('/admin/orders'); await txt(500)})
await browser.close()
