/**
 * Every write of the console: where it is, how a person gets to it, and what the person typed by then. `writes.test.ts` compares the list with
 * the code, and breaks each write in four ways. It knows Playwright's page alone, and no runner of tests.
 */
import type { Page } from '@playwright/test'
import * as words from '../../src/words/en.ts'

export interface WrittenAt {
  /** Below `console/src`. */
  readonly file: string
  readonly method: 'post' | 'put' | 'patch' | 'delete'
  readonly path: string
}

export interface TableRow extends WrittenAt {
  /** Where one file has several ways to the same write. */
  readonly how?: string
  /** Address in the console. */
  readonly at: string
  /** `admin` by the token of the node if left out. */
  readonly as?: 'member' | 'no one'
  /** Opens what the write is sent from, and fills it in. */
  readonly open?: (page: Page) => Promise<void>
  readonly send: (page: Page) => Promise<void>
  /** Label and text of a field that must survive. */
  readonly typed?: readonly [label: string, text: string | (() => string)]
  /** Who says what went wrong. */
  readonly shown: 'form' | 'toast'
}

/** What the rows find on the node. The test makes it. */
export const STAGE = {
  project: 'stage',
  emptyProject: 'stage-empty',
  key: 'reader',
  rotatedKey: 'rotated',
  member: { name: 'Mara Stage', email: 'mara@example.com' },
  disabled: { name: 'Dan Stage', email: 'dan@example.com' },
  invited: 'ines@example.com',
  token: 'stage-token',
  silentHost: 'gateway-silent',
  unpriced: 'open-w16/plain',
  priced: 'priced-w16/plain',
  guarded: 'pair-w16',
  rule: 'Stage rule',
  failingChannel: 'stage-failing',
  unusedChannel: 'stage-unused',
} as const

const key = `/keys/${STAGE.project}/${STAGE.key}`
const deployment = (id: string): string => `/deployments/${encodeURIComponent(id)}`

const press =
  (name: string | RegExp, inside: 'dialog' | 'alertdialog' | 'page' = 'page') =>
  async (page: Page): Promise<void> => {
    const scope = inside === 'page' ? page : page.getByRole(inside)
    await scope
      .getByRole('button', { name, exact: typeof name === 'string' })
      .last()
      .click()
  }
export const textOf = (text: string | (() => string)): string => (typeof text === 'string' ? text : text())
const fill =
  (label: string, text: string | (() => string)) =>
  async (page: Page): Promise<void> =>
    page.getByLabel(label, { exact: true }).last().fill(textOf(text))
const choose =
  (menu: string, item: string) =>
  async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: menu, exact: true }).first().press('Enter')
    await page.getByRole('menuitem', { name: item, exact: true }).click()
  }
const pick =
  (field: string, option: string) =>
  async (page: Page): Promise<void> => {
    await page.getByRole('combobox', { name: field, exact: true }).click()
    await page.getByRole('option', { name: option, exact: true }).click()
  }
const inRow =
  (row: string, button: string) =>
  async (page: Page): Promise<void> =>
    page.getByRole('row').filter({ hasText: row }).getByRole('button', { name: button, exact: true }).click()
const steps =
  (...all: readonly ((page: Page) => Promise<void>)[]) =>
  async (page: Page): Promise<void> => {
    for (const step of all) await step(page)
  }

const toggle =
  (name: string) =>
  async (page: Page): Promise<void> =>
    page.getByRole('switch', { name, exact: true }).click()

const chooseFile = async (page: Page): Promise<void> => {
  const file = { name: 'typed.csv', mimeType: 'text/csv', buffer: Buffer.from('id,text\n1,a cat\n') }
  await page.locator('input[type=file]').first().setInputFiles(file)
  // Until the estimate is there, the button is off.
  await page.getByText(words.newBatch.estimate.justNow).waitFor()
}

const { members, tokens, signOn, general } = words.people
const { deployments, budgets, welcome, upstreams } = words

const { alerts } = words
const newChannel = steps(
  press(alerts.channels.add),
  fill(alerts.channel.name, 'typed-channel'),
  fill(alerts.channel.url.slack, 'https://hooks.example.com/services/typed'),
)

const ALERTS: readonly TableRow[] = [
  {
    file: 'pages/alerts/alerts-page.tsx',
    method: 'put',
    path: '/api/v1/alerts/mute',
    at: '/alerts',
    send: choose(alerts.mute.action, alerts.mute.hours(1)),
    shown: 'toast',
  },
  {
    file: 'pages/alerts/rules.tsx',
    method: 'patch',
    path: '/api/v1/alerts/rules/{id}',
    at: '/alerts',
    send: toggle(alerts.rules.toggle(STAGE.rule)),
    shown: 'toast',
  },
  {
    file: 'pages/alerts/rules.tsx',
    method: 'delete',
    path: '/api/v1/alerts/rules/{id}',
    at: '/alerts',
    open: choose(alerts.rules.more(STAGE.rule), alerts.rules.delete),
    send: press(alerts.rules.deleteGo, 'alertdialog'),
    shown: 'form',
  },
  {
    file: 'pages/alerts/rule-sheet.tsx',
    method: 'post',
    path: '/api/v1/alerts/rules',
    at: '/alerts?new=budget',
    open: fill(alerts.rule.name, 'Typed rule'),
    send: press(alerts.rule.create, 'dialog'),
    typed: [alerts.rule.name, 'Typed rule'],
    shown: 'form',
  },
  {
    file: 'pages/alerts/rule-sheet.tsx',
    method: 'patch',
    path: '/api/v1/alerts/rules/{id}',
    at: '/alerts',
    open: steps(press(STAGE.rule), fill(alerts.rule.name, 'Typed name')),
    send: press(alerts.rule.save, 'dialog'),
    typed: [alerts.rule.name, 'Typed name'],
    shown: 'form',
  },
  {
    file: 'pages/alerts/channels.tsx',
    method: 'post',
    path: '/api/v1/alerts/channels/{id}/test',
    at: '/alerts',
    send: press(alerts.channels.test),
    shown: 'toast',
  },
  {
    file: 'pages/alerts/channels.tsx',
    method: 'post',
    path: '/api/v1/alerts/channels/{id}/retry',
    at: '/alerts',
    send: press(alerts.channels.retry),
    shown: 'toast',
  },
  {
    file: 'pages/alerts/channel-sheet.tsx',
    method: 'delete',
    path: '/api/v1/alerts/channels/{id}',
    at: '/alerts',
    open: steps(press(STAGE.unusedChannel), fill(alerts.channel.name, 'typed-other')),
    send: press(alerts.channel.delete, 'dialog'),
    typed: [alerts.channel.name, 'typed-other'],
    shown: 'form',
  },
  {
    file: 'pages/alerts/channel-sheet.tsx',
    method: 'post',
    path: '/api/v1/alerts/channels',
    at: '/alerts',
    open: newChannel,
    send: press(alerts.channel.create, 'dialog'),
    typed: [alerts.channel.name, 'typed-channel'],
    shown: 'form',
  },
  {
    file: 'pages/alerts/channel-sheet.tsx',
    method: 'patch',
    path: '/api/v1/alerts/channels/{id}',
    at: '/alerts',
    open: steps(press(STAGE.unusedChannel), fill(alerts.channel.name, 'typed-name')),
    send: press(alerts.channel.save, 'dialog'),
    typed: [alerts.channel.name, 'typed-name'],
    shown: 'form',
  },
]

const SETTINGS: readonly TableRow[] = [
  {
    file: 'pages/settings/members-section.tsx',
    method: 'delete',
    path: '/api/v1/invitations/{email}',
    at: '/settings/members',
    send: choose(members.menu(STAGE.invited), members.withdraw),
    shown: 'toast',
  },
  {
    file: 'pages/settings/members-section.tsx',
    method: 'delete',
    path: '/api/v1/members/{id}/sessions',
    at: '/settings/members',
    send: choose(members.menu(STAGE.member.name), members.endSessions),
    shown: 'toast',
  },
  {
    file: 'pages/settings/members-section.tsx',
    method: 'patch',
    path: '/api/v1/members/{id}',
    how: 'enable',
    at: '/settings/members',
    send: choose(members.menu(STAGE.disabled.name), members.enable),
    shown: 'toast',
  },
  {
    file: 'pages/settings/members-section.tsx',
    method: 'patch',
    path: '/api/v1/members/{id}',
    how: 'disable',
    at: '/settings/members',
    open: choose(members.menu(STAGE.member.name), members.disable),
    send: press(members.disable, 'alertdialog'),
    shown: 'form',
  },
  {
    file: 'pages/settings/member-sheets.tsx',
    method: 'patch',
    path: '/api/v1/members/{id}',
    at: '/settings/members',
    open: steps(choose(members.menu(STAGE.member.name), members.change), fill(members.name, 'Mara Typed')),
    send: press(members.save, 'dialog'),
    typed: [members.name, 'Mara Typed'],
    shown: 'form',
  },
  {
    file: 'pages/settings/member-sheets.tsx',
    method: 'post',
    path: '/api/v1/invitations',
    at: '/settings/members',
    open: steps(press(members.invite), fill(members.email, 'new@example.com')),
    send: press(members.create, 'dialog'),
    typed: [members.email, 'new@example.com'],
    shown: 'form',
  },
  {
    file: 'pages/settings/project-sheets.tsx',
    method: 'post',
    path: '/api/v1/projects',
    at: '/settings/projects',
    open: steps(press(words.projects.new), fill(words.projects.sheet.name, 'typed-project')),
    send: press(words.projects.sheet.create, 'dialog'),
    typed: [words.projects.sheet.name, 'typed-project'],
    shown: 'form',
  },
  {
    file: 'pages/settings/project-sheets.tsx',
    method: 'patch',
    path: '/api/v1/projects/{project}',
    at: '/settings/projects',
    open: steps(
      choose(words.projects.more(STAGE.emptyProject), words.projects.change),
      fill(words.keys.form.budget, '77'),
    ),
    send: press(words.projects.sheet.save, 'dialog'),
    typed: [words.keys.form.budget, '77'],
    shown: 'form',
  },
  {
    file: 'pages/settings/project-sheets.tsx',
    method: 'delete',
    path: '/api/v1/projects/{project}',
    at: '/settings/projects',
    open: steps(
      choose(words.projects.more(STAGE.emptyProject), words.projects.delete.action),
      fill(words.projects.delete.type(STAGE.emptyProject), STAGE.emptyProject),
    ),
    send: press(words.projects.delete.go, 'alertdialog'),
    typed: [words.projects.delete.type(STAGE.emptyProject), STAGE.emptyProject],
    shown: 'form',
  },
  {
    file: 'pages/settings/price-sheet.tsx',
    method: 'put',
    path: '/api/v1/prices/{deployment}',
    at: '/settings/prices',
    open: steps(inRow(STAGE.unpriced, words.prices.set), fill(words.prices.sheet.usd.tokens, '3.25')),
    send: press(words.prices.sheet.save, 'dialog'),
    typed: [words.prices.sheet.usd.tokens, '3.25'],
    shown: 'form',
  },
  {
    file: 'pages/settings/price-sheet.tsx',
    method: 'delete',
    path: '/api/v1/prices/{deployment}',
    at: '/settings/prices',
    open: steps(inRow(STAGE.priced, words.prices.change), fill(words.prices.sheet.usd.tokens, '4.5')),
    send: press(words.prices.sheet.forget, 'dialog'),
    typed: [words.prices.sheet.usd.tokens, '4.5'],
    shown: 'form',
  },
  {
    file: 'pages/settings/token-sheet.tsx',
    method: 'post',
    path: '/api/v1/tokens',
    at: '/settings/tokens',
    open: steps(press(tokens.new), fill(tokens.name, 'typed-token')),
    send: press(tokens.create, 'dialog'),
    typed: [tokens.name, 'typed-token'],
    shown: 'form',
  },
  {
    file: 'pages/settings/tokens-section.tsx',
    method: 'delete',
    path: '/api/v1/tokens/{name}',
    at: '/settings/tokens',
    open: inRow(STAGE.token, tokens.revoke),
    send: press(tokens.revoke, 'alertdialog'),
    shown: 'form',
  },
  {
    file: 'pages/settings/nodes-section.tsx',
    method: 'post',
    path: '/api/v1/nodes/{id}/end',
    at: '/settings/nodes',
    open: inRow(STAGE.silentHost, words.nodes.end),
    send: press(words.nodes.end, 'alertdialog'),
    shown: 'form',
  },
  {
    file: 'pages/settings/general-section.tsx',
    method: 'put',
    path: '/api/v1/session/password',
    at: '/settings/general',
    as: 'member',
    open: steps(
      press(general.changePassword),
      fill(general.current, 'the present password'),
      fill(general.next, 'a new long password'),
    ),
    send: press(general.save, 'dialog'),
    typed: [general.next, 'a new long password'],
    shown: 'form',
  },
  {
    file: 'pages/settings/sign-on-section.tsx',
    method: 'put',
    path: '/api/v1/sign-on',
    at: '/settings/sign-on',
    open: fill(signOn.name, 'Typed name'),
    send: press(signOn.save),
    typed: [signOn.name, 'Typed name'],
    shown: 'form',
  },
  {
    file: 'pages/settings/sign-on-section.tsx',
    method: 'post',
    path: '/api/v1/sign-on/test',
    at: '/settings/sign-on',
    send: press(signOn.test),
    shown: 'form',
  },
  {
    file: 'pages/settings/sign-on-section.tsx',
    method: 'delete',
    path: '/api/v1/sign-on',
    at: '/settings/sign-on',
    open: press(signOn.drop),
    send: press(signOn.drop, 'alertdialog'),
    shown: 'form',
  },
]

const KEYS_AND_MONEY: readonly TableRow[] = [
  {
    file: 'pages/keys/key-sheet.tsx',
    method: 'post',
    path: '/api/v1/keys',
    at: '/keys',
    open: steps(
      press(new RegExp(`^${words.keys.new}`)),
      pick(words.keys.form.project, STAGE.project),
      fill(words.keys.form.name, 'typed-key'),
    ),
    send: press(new RegExp(`^${words.keys.form.create}`), 'dialog'),
    typed: [words.keys.form.name, 'typed-key'],
    shown: 'form',
  },
  {
    file: 'pages/keys/key-sheet.tsx',
    method: 'patch',
    path: '/api/v1/keys/{project}/{name}',
    at: key,
    open: steps(press(words.keys.detail.change), fill(words.keys.form.budget, '12.5')),
    send: press(new RegExp(`^${words.keys.form.save}`), 'dialog'),
    typed: [words.keys.form.budget, '12.5'],
    shown: 'form',
  },
  {
    file: 'pages/keys/key-dialogs.tsx',
    method: 'post',
    path: '/api/v1/keys/{project}/{name}/rotate',
    at: key,
    open: press(words.keys.rotate.action),
    send: press(words.keys.rotate.go, 'dialog'),
    shown: 'form',
  },
  {
    file: 'pages/keys/key-dialogs.tsx',
    method: 'delete',
    path: '/api/v1/keys/{project}/{name}',
    at: key,
    open: press(words.keys.revoke.action),
    send: press(words.keys.revoke.go, 'alertdialog'),
    shown: 'form',
  },
  {
    file: 'pages/keys/key-parts.tsx',
    method: 'delete',
    path: '/api/v1/keys/{project}/{name}/previous',
    at: `/keys/${STAGE.project}/${STAGE.rotatedKey}`,
    send: press(words.keys.rotate.endNow),
    shown: 'toast',
  },
  {
    file: 'pages/budgets/budget-sheets.tsx',
    method: 'patch',
    path: '/api/v1/projects/{project}',
    how: 'new',
    at: '/budgets',
    open: steps(press(budgets.new), fill(budgets.form.usd, '31')),
    send: press(budgets.form.save, 'dialog'),
    typed: [budgets.form.usd, '31'],
    shown: 'form',
  },
  {
    file: 'pages/budgets/budget-sheets.tsx',
    method: 'patch',
    path: '/api/v1/keys/{project}/{name}',
    how: 'change',
    at: `/budgets/key/${encodeURIComponent(`${STAGE.project}/${STAGE.key}`)}`,
    open: steps(press(budgets.change), fill(budgets.form.usd, '32')),
    send: press(budgets.form.save, 'dialog'),
    typed: [budgets.form.usd, '32'],
    shown: 'form',
  },
  {
    file: 'pages/budgets/budget-sheets.tsx',
    method: 'patch',
    path: '/api/v1/keys/{project}/{name}',
    how: 'remove',
    at: `/budgets/key/${encodeURIComponent(`${STAGE.project}/${STAGE.key}`)}`,
    open: steps(press(budgets.change), fill(budgets.form.usd, '33')),
    send: press(budgets.form.remove, 'dialog'),
    typed: [budgets.form.usd, '33'],
    shown: 'form',
  },
  {
    file: 'pages/unknowns/resolve-card.tsx',
    method: 'post',
    path: '/api/v1/unknowns/{request_id}/{attempt}',
    at: '/unknowns',
    open: fill(words.unknowns.why, 'line 4411 of the export'),
    send: (page) => page.locator('button[type=submit]').last().click(),
    typed: [words.unknowns.why, 'line 4411 of the export'],
    shown: 'form',
  },
]

/** Of the model that the stage connects: its upstream has no host name. */
const STORED_WEIGHT = words.routing.model.field(words.routing.model.heads.weight, 'server')

const TRAFFIC: readonly TableRow[] = [
  {
    file: 'pages/batches/pause-dialog.tsx',
    method: 'post',
    path: '/api/v1/batches/{id}/pause',
    at: '/batches/{running}',
    open: steps(press(words.batches.pause.action), fill(words.batches.pause.reason, 'typed reason')),
    send: press(words.batches.pause.go, 'dialog'),
    typed: [words.batches.pause.reason, 'typed reason'],
    shown: 'form',
  },
  {
    file: 'pages/batches/pause-banner.tsx',
    method: 'post',
    path: '/api/v1/batches/{id}/resume',
    at: '/batches/{held}',
    send: press(words.batches.resume.action),
    shown: 'toast',
  },
  {
    file: 'api/batch-file.ts',
    method: 'post',
    path: '/api/v1/playground/uploads',
    at: `/batches/new?project=${STAGE.project}&model=plain-w16`,
    open: chooseFile,
    send: press(new RegExp(`^${words.newBatch.estimate.run}`)),
    shown: 'form',
  },
  {
    file: 'pages/new-batch/run.ts',
    method: 'post',
    path: '/api/v1/batches',
    at: `/batches/new?project=${STAGE.project}&model=plain-w16`,
    open: chooseFile,
    send: press(new RegExp(`^${words.newBatch.estimate.run}`)),
    shown: 'form',
  },
  {
    file: 'pages/batches/cancel-dialog.tsx',
    method: 'post',
    path: '/api/v1/batches/{id}/cancel',
    at: '/batches/{running}',
    open: press(words.batches.cancel.action),
    send: press(words.batches.cancel.go, 'alertdialog'),
    shown: 'form',
  },
  {
    file: 'pages/batches/pause-banner.tsx',
    method: 'post',
    path: '/api/v1/batches/{id}/continue',
    at: '/batches/{paused}',
    send: press(words.batches.goOn.action),
    shown: 'toast',
  },
  {
    file: 'pages/deployments/test-dialog.tsx',
    method: 'post',
    path: '/api/v1/deployments/{id}/test',
    at: deployment('plain-w16/plain'),
    open: steps(press(deployments.testNow), fill(deployments.testDialog.most, '0.07')),
    send: press(deployments.testDialog.run, 'dialog'),
    typed: [deployments.testDialog.most, '0.07'],
    shown: 'form',
  },
  {
    file: 'pages/deployments/drain-dialog.tsx',
    method: 'post',
    path: '/api/v1/deployments/{id}/drain',
    at: deployment('plain-w16/plain'),
    open: steps(press(deployments.drain), fill(deployments.drainDialog.reason, 'a new driver')),
    send: press(deployments.drain, 'dialog'),
    typed: [deployments.drainDialog.reason, 'a new driver'],
    shown: 'form',
  },
  {
    file: 'pages/upstreams/credential-dialog.tsx',
    method: 'put',
    path: '/api/v1/credentials/{upstream}',
    how: 'replace',
    at: deployment('plain-w16/plain'),
    open: steps(
      choose(deployments.more, deployments.replaceCredential),
      fill(words.routing.credential.secret, 'sk-typed-secret'),
    ),
    send: press(words.routing.credential.store, 'dialog'),
    typed: [words.routing.credential.secret, 'sk-typed-secret'],
    shown: 'form',
  },
  {
    file: 'pages/upstreams/credential-dialog.tsx',
    method: 'put',
    path: '/api/v1/credentials/{upstream}',
    how: 'forget',
    at: deployment('plain-w16/plain'),
    open: choose(deployments.more, deployments.forgetCredential),
    send: press(words.routing.credential.forget, 'alertdialog'),
    shown: 'form',
  },
  {
    file: 'pages/upstreams/checks.ts',
    method: 'post',
    path: '/api/v1/upstreams/check',
    at: '/upstreams',
    send: choose(words.routing.upstreams.menu('plain'), words.routing.upstreams.checkNow),
    shown: 'toast',
  },
  {
    file: 'pages/upstreams/pending.ts',
    method: 'post',
    path: '/api/v1/configuration/changes',
    at: '/upstreams?model={stored}',
    open: fill(STORED_WEIGHT, '7'),
    send: press(new RegExp(`^${words.routing.changes.save}`)),
    typed: [STORED_WEIGHT, '7'],
    shown: 'form',
  },
  {
    file: 'pages/upstreams/history.tsx',
    method: 'post',
    path: '/api/v1/configuration/changes/{id}/revert',
    at: '/upstreams',
    send: (page) =>
      page
        .getByRole('button', { name: /^Revert: / })
        .first()
        .click(),
    shown: 'toast',
  },
  {
    file: 'pages/deployments/accept-dialog.tsx',
    method: 'post',
    path: '/api/v1/spaces/{model}/accept',
    at: `${deployment(`${STAGE.guarded}/mode-two`)}?tab=drift`,
    open: steps(
      press(deployments.drift.accept),
      fill(deployments.acceptDialog.type(STAGE.guarded), STAGE.guarded),
    ),
    send: press(deployments.acceptDialog.go, 'alertdialog'),
    typed: [deployments.acceptDialog.type(STAGE.guarded), STAGE.guarded],
    shown: 'form',
  },
  {
    file: 'pages/deployments/compare.ts',
    method: 'post',
    path: '/api/v1/spaces/{model}/probe',
    at: '/deployments',
    send: press(deployments.compareAll),
    shown: 'toast',
  },
  {
    file: 'pages/models/model-page.tsx',
    method: 'delete',
    path: '/api/v1/models/{id}',
    at: '/models/{stored}',
    open: press(words.models.detail.remove),
    send: press(words.models.detail.remove, 'alertdialog'),
    shown: 'form',
  },
]

const pressAdd = (page: Page): Promise<void> => page.getByRole('button', { name: /^Add \d/ }).click()

function upstreamRows(address: () => string): readonly TableRow[] {
  const openConnect = steps(
    press(words.models.connectUpstream),
    press(new RegExp(upstreams.ownServer)),
    fill(upstreams.address, address),
  )
  const checked = steps(openConnect, press(upstreams.check), async (page) => {
    await page.getByRole('button', { name: /^Add \d/ }).waitFor()
  })
  const rows = [
    ['post', '/api/v1/upstreams/check', openConnect, press(upstreams.check)],
    ['post', '/api/v1/upstreams', checked, pressAdd],
    ['post', '/api/v1/models', checked, pressAdd],
    ['put', '/api/v1/prices/{deployment}', steps(checked, press(/free$/)), pressAdd],
  ] as const
  return rows.map(([method, path, open, send]) => ({
    file: 'parts/connect-upstream/connect.ts',
    method,
    path,
    at: '/models',
    open,
    send,
    typed: [upstreams.address, address],
    shown: 'form',
  }))
}

/** Runs of a model. They stream, so they do not go through `useWrite`. */
const PLAYGROUNDS: readonly TableRow[] = [
  {
    file: 'api/queries/playground-embeddings.ts',
    method: 'post',
    path: '/api/v1/playground/embeddings',
    at: '/playground/embeddings',
    open: steps(
      pick(words.embeddings.project, STAGE.project),
      fill(words.embeddings.texts, 'a typed text\nanother'),
    ),
    send: press(new RegExp(`^${words.embeddings.embed}`)),
    typed: [words.embeddings.texts, 'a typed text\nanother'],
    shown: 'form',
  },
  {
    file: 'api/image-calls.ts',
    method: 'post',
    path: '/api/v1/playground/images/generations',
    at: '/playground/images',
    open: steps(pick(words.images.project, STAGE.emptyProject), fill(words.images.prompt, 'a typed prompt')),
    send: (page) => page.locator('form button[type=submit]').click(),
    typed: [words.images.prompt, 'a typed prompt'],
    shown: 'form',
  },
]

const PEOPLE: readonly TableRow[] = [
  {
    file: 'pages/welcome/key-step.tsx',
    method: 'post',
    path: '/api/v1/keys',
    at: '/welcome',
    open: fill(welcome.key.name, 'typed-first'),
    send: press(welcome.key.submit),
    typed: [welcome.key.name, 'typed-first'],
    shown: 'form',
  },
  {
    file: 'pages/welcome/sign-in-page.tsx',
    method: 'post',
    path: '/api/v1/session',
    at: '/sign-in',
    as: 'no one',
    open: steps(fill(welcome.signIn.email, 'typed@example.com'), fill(welcome.signIn.password, 'a password')),
    send: press(welcome.signIn.submit),
    typed: [welcome.signIn.email, 'typed@example.com'],
    shown: 'form',
  },
  {
    file: 'pages/welcome/invite-page.tsx',
    method: 'post',
    path: '/api/v1/invitations/accept',
    at: '/invite/{token}',
    as: 'no one',
    open: steps(fill(welcome.invite.name, 'Typed Name'), fill(welcome.signIn.password, 'a long password')),
    send: press(welcome.invite.submit),
    typed: [welcome.invite.name, 'Typed Name'],
    shown: 'form',
  },
  {
    file: 'pages/welcome/admin-form.tsx',
    method: 'post',
    path: '/api/v1/session/first-run',
    at: '{first run}',
    as: 'no one',
    open: steps(
      fill(welcome.invite.name, 'Typed Admin'),
      fill(welcome.signIn.email, 'admin@example.com'),
      fill(welcome.signIn.password, 'a long password'),
    ),
    send: press(welcome.admin.submit),
    typed: [welcome.invite.name, 'Typed Admin'],
    shown: 'form',
  },
  ...(
    [
      ['/api/v1/session', words.shell.signOut],
      ['/api/v1/session/all', words.shell.signOutEverywhere],
    ] as const
  ).map(([path, item]): TableRow => ({
    file: 'app/session.ts',
    method: 'delete',
    path,
    at: '/keys',
    as: 'member',
    send: async (page) => {
      await page.getByRole('button', { name: new RegExp(STAGE.member.name) }).press('Enter')
      await page.getByRole('menuitem', { name: item, exact: true }).click()
    },
    shown: 'toast',
  })),
]

/** `address`: of a server that can be connected, known once the node runs. */
export function writeTable(address: () => string): readonly TableRow[] {
  // The batch that is cancelled must not have ended by then.
  return [
    ...TRAFFIC,
    ...PLAYGROUNDS,
    ...ALERTS,
    ...SETTINGS,
    ...KEYS_AND_MONEY,
    ...PEOPLE,
    ...upstreamRows(address),
  ]
}
