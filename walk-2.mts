import { start } from './walk-lib.mts'
const { browser, page, shot, txt, fields } = await start()
for (const q of ['Abshire','960624','SBX103924311601','HOM-STU-0114','#AB-1002','AB-1002','1002']) {
  await page.goto('/admin')
  await page.locator('input[type=search]:visible, header input:visible').first().fill(q)
  await page.keyboard.press('Enter'); await page.waitForLoadState('load'); await page.waitForTimeout(500)
  console.log('=====',q); await txt(900)
  await shot('search-'+q.replace(/\W/g,''), false)
}
for (const q of ['q=x']) { await page.goto('/admin/orders?'+q); await txt(300) }
for (const p of ['/admin/orders/new','/admin/products','/admin/customers','/admin/reports']) { await page.goto(p); await txt(1500); await fields(); await shot(p.replace(/\W/g,'')) }
await browser.close()
