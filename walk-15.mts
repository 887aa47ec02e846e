import { chromium } from 'playwright-core'
import { readFileSync } from 'node:fs'
const b = await chromium.launch({ executablePath: '/usr/bin/chromium-headless-shell', args: ['--no-sandbox'] })
const D='/dev/shm/look/w/'
const mk=async(out:string,files:string[],w=390,h=1700)=>{const p=await b.newPage({viewport:{width:w*files.length,height:h}}); await p.setContent('<body style="margin:0;display:flex;background:#888">'+files.map(f=>`<div style="width:${w}px;height:${h}px;overflow:hidden;border-right:2px solid red;box-sizing:border-box"><img src="data:image/png;base64,${readFileSync(D+f).toString('base64')}" width="${w}"></div>`).join('')); await p.waitForTimeout(300); await p.screenshot({path:D+out}); await p.close()}
await mk('M1.png',['m-admin.png','m-admin-orders-340.png','m-admin-orders-new.png','m-admin-products-595.png'])
await mk('M2.png',['m-admin-products-356-options.png','m-admin-orders-3-returns-new.png','m-admin-customers.png','m-admin-reports-by-product-from-2026-07-01-to-2026-09-30.png'])
await mk('M3.png',['m-admin-history.png','m-admin-settings-order-statuses.png','m-admin-products-find-dutch-oven.png','m-admin-products-356-edit-section-option-sets.png'])
await mk('M4.png',['md-admin.png','md-admin-orders-340.png','md-admin-orders-new.png','m-admin-orders-351-payments.png'])
await mk('M5.png',['dd-admin-orders-340.png','dd-admin-orders-new.png'],900,1000)
await mk('M6.png',['report-file.png','de-admin-settings-payment-methods.png'],900,1000)
await b.close()
