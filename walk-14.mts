import { start } from './walk-lib.mts'
const paths=['/admin','/admin/search?q=Abshire','/admin/orders/340','/admin/orders/351/payments','/admin/orders/340/shipments/366','/admin/orders/3/returns/new','/admin/orders/new','/admin/products?find=dutch+oven','/admin/products/595','/admin/products/595/prices','/admin/products/356/options','/admin/products/356/edit?section=option-sets','/admin/products/356/stock','/admin/customers','/admin/customers/601','/admin/reports?by=product&from=2026-07-01&to=2026-09-30','/admin/reports','/admin/history','/admin/csv/1','/admin/people','/admin/settings/order-statuses','/admin/settings/payment-methods','/admin/account','/admin/orders?find=zzzzqq','/admin/orders/340/packing-slip?shipment=5969','/admin/orders/340/invoice','/admin/rma','/admin/modules/cartapi','/admin/customers/new','/admin/products/595/edit?section=description']
const a = await start({width:390,height:844,locale:'de-DE'})
for (const p of paths){ await a.page.goto(p); await a.shot('m'+p.replace(/\W+/g,'-')); 
 const o=await a.page.evaluate(`[...document.querySelectorAll('main *')].filter(e=>{const r=e.getBoundingClientRect();if(!(r.width>0&&r.right>391))return false;let q=e.parentElement;while(q){const s=getComputedStyle(q).overflowX;if(s!='visible')return false;q=q.parentElement}return true}).slice(0,3).map(e=>e.tagName+'.'+e.className+' '+e.innerText.slice(0,40)).join(' | ')`); if(o) console.log('OVER',p,o) }
await a.browser.close()
const d = await start({width:390,height:844,locale:'de-DE',scheme:'dark'})
for (const p of ['/admin','/admin/orders/340','/admin/orders/new','/admin/products/595']){ await d.page.goto(p); await d.shot('md'+p.replace(/\W+/g,'-')) }
await d.browser.close()
const w = await start({locale:'de-DE',scheme:'dark'})
for (const p of ['/admin','/admin/orders/340','/admin/orders/new','/admin/products/595','/admin/orders/340/invoice','/admin/products/595/edit?section=description']){ await w.page.goto(p); await w.shot('dd'+p.replace(/\W+/g,'-')) }
await w.browser.close()
