import { start } from './walk-lib.mts'
const { browser, page, shot, txt, fields } = await start()
await page.goto('/admin'); await shot('overview'); await txt(3000,'body')
await page.goto('/admin/orders'); await shot('orders'); await txt(6000)
await page.goto('/admin/orders/3'); await shot('order3'); await txt(6000); await fields()
await browser.close()
