import type { TestServer, TestStore } from '../../../support/store.ts'

interface Planted {
  readonly FirstName: string
  readonly LastName: string
  readonly Email: string
}

/** Rows of the tables in which others write of a person, as the server leaves them. */
export async function plantCopies({ services }: TestServer, { store, application }: TestStore, person: Planted) {
  const { db, secrets, now } = services
  const storeId = store.id
  const at = now()
  const inWords = `${person.FirstName} ${person.LastName} called from ${person.Email}`
  const asJson = { Billing: { BillingFirstName: person.FirstName, BillingLastName: person.LastName } }
  const user = await db.storeUser.findFirstOrThrow({ where: { storeId } })
  const ofCustomer = { storeId, customerId: 12 }
  const soon = new Date(at.getTime() + 3_600_000)

  const events = await db.event.findMany({ where: { storeId } })
  const webhook = await db.webhook.create({
    data: {
      storeId,
      id: 1,
      name: 'Desk',
      url: 'https://desk.example',
      eventType: 8,
      format: 'JSON',
      enabled: true,
      createdAt: at,
      updatedAt: at,
      updatedBy: '',
      secretSealed: secrets.seal('x'),
    },
  })
  for (const { id: eventId, body: answer } of events) {
    const delivery = { storeId, webhookId: webhook.id, eventId, state: 'delivered', createdAt: at, endedAt: at }
    const attempt = { number: 1, at, status: 200, reason: '', durationMs: 1, answer }
    await db.delivery.create({ data: { ...delivery, log: { create: attempt } } })
  }
  const browser = { provedAt: at, createdAt: at, seenAt: at, expiresAt: soon, address: '192.0.2.7', userAgent: 'qz7z' }
  await db.session.create({ data: { ...ofCustomer, tokenHash: 'a', ...browser } })
  await db.customerLoginToken.create({ data: { ...ofCustomer, tokenHash: 'b', createdAt: at, expiresAt: soon } })
  const note = { text: inWords, writtenBy: 'staff@shop.example', writtenAt: at }
  await db.customerNote.create({ data: { ...ofCustomer, ...note } })
  const other = await db.customer.findFirst({ where: { storeId, id: { not: 12 } } })
  if (other) await db.customerNote.create({ data: { storeId, customerId: other.id, ...note } })
  const mail = { storeId, kind: 'customer-link', state: 'waiting', nextAttemptAt: soon, createdAt: at }
  const contentSealed = secrets.seal(JSON.stringify({ text: inWords }))
  await db.mail.create({
    data: { ...mail, recipient: person.Email, messageId: '<1>', subject: 'Sign in', contentSealed },
  })
  await db.mail.create({
    data: {
      ...mail,
      recipient: 'owner@shop.example',
      messageId: '<2>',
      subject: `Order of ${inWords}`,
      contentSealed,
      reason: inWords,
    },
  })
  await db.orderDraft.create({
    data: {
      storeId,
      identityId: user.identityId,
      page: 'p',
      version: 1,
      title: inWords,
      lines: 1,
      fields: JSON.stringify(asJson),
      keptAt: at,
    },
  })
  await db.listView.create({
    data: { userId: user.id, service: 'Orders', name: 'v', query: `?q=${encodeURIComponent(person.Email)}` },
  })
  const { id: subscriptionId } = await db.subscription.findFirstOrThrow({ where: { storeId } })
  const call = {
    subscriptionId,
    at,
    method: 'PUT',
    path: `/v1/Customers/${person.Email}`,
    status: 400,
    message: inWords,
  }
  await db.apiCall.create({ data: { ...call, refusedBody: { create: { at, body: JSON.stringify(asJson) } } } })
  const entry = { at, storeId, actorKind: 'merchant', address: '', action: 'store.changed', details: asJson }
  await db.auditEntry.create({ data: { ...entry, actor: inWords, target: inWords } })
  const history = { at, storeId, recordType: 'Product', recordId: 1, kind: 'update', actorKind: 'customer' }
  await db.historyEntry.create({ data: { ...history, actor: inWords, changed: [], more: 0 } })
  await db.stockMovement.create({
    data: {
      storeId,
      productId: 1,
      quantity: 0,
      stockAfter: 0,
      cause: 'adjust',
      actor: inWords,
      note: inWords,
      createdAt: at,
    },
  })
  const payment = { storeId, orderId: 40, transactionId: 1, occurredAt: at, bookedAt: at, isLate: false, amount: 1 }
  await db.paymentEntry.create({ data: { ...payment, method: inWords, reference: inWords, customer: inWords } })
  const key = { storeId, scope: 's', bodyHash: 'h', claimedAt: at, claim: 'c', leasedUntil: at, answered: true }
  await db.idempotencyKey.create({ data: { ...key, answers: { create: { place: 0, item: { Message: inWords } } } } })
  const file = {
    storeId,
    id: 1,
    service: 'Customers',
    fileName: `${inWords}.csv`,
    state: 'ready',
    ignored: [],
    change: asJson,
  }
  const line = { line: 2, outcome: 'new', name: inWords, body: { Email: person.Email }, sealed: secrets.seal(inWords) }
  const told = { changes: [['Email', '', inWords]], before: asJson, problems: [['Email', inWords, 'is taken']] }
  const rows = JSON.stringify([
    [2, ['Somebody', 'else@shop.example']],
    [3, [person.FirstName, person.Email]],
  ])
  await db.csvImport.create({
    data: {
      ...file,
      actor: 'staff@shop.example',
      createdAt: at,
      rows: { create: { ...line, ...told } },
      parts: {
        create: [
          { part: 1, rows },
          { part: 2, sealed: secrets.seal(rows) },
        ],
      },
      names: { create: { number: 1, service: 'CustomerGroups', name: inWords, path: inWords } },
    },
  })
  const developer = await db.developer.create({
    data: { createdAt: at, identity: { create: { email: 'dev@shop.example', passwordHash: '', createdAt: at } } },
  })
  const message = { at, method: 'POST', sealed: contentSealed, bytes: 1, signature: 'none', signer: '', status: 200 }
  await db.inbox.create({
    data: { developerId: developer.id, name: 'i', title: 'Inbox', createdAt: at, messages: { create: message } },
  })
  const test = { storeId, developerId: developer.id, state: 'ready', createdAt: at }
  const change = { at, kind: 'order', words: inWords, isDone: true, page: '' }
  await db.testStore.create({ data: { ...test, changes: { create: change } } })
  return application
}
