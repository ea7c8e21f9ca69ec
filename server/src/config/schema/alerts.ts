/** Alert rules and channels. */
import { z } from 'zod'
import { ALERT_KINDS } from '#core/alerts/kind.ts'
import { WEEKDAYS } from '#core/alerts/quiet-hours.ts'
import { CHANNEL_KINDS, PAGERDUTY_URL } from '#core/alerts/rule.ts'
import { MIN_KEY_LENGTH } from '#core/keys/key.ts'
import { hasCredentials } from './upstream.ts'

const channel = z.strictObject({
  kind: z.enum(CHANNEL_KINDS).describe('What takes the notices.'),
  url: z
    .url({ protocol: /^https?$/, error: 'expected a URL such as https://hooks.example.com/alerts' })
    .refine((text) => !hasCredentials(text), 'must not hold a user name or a password')
    .optional()
    .describe(`Where notices are posted. Required except for \`email\`; \`pagerduty\` has ${PAGERDUTY_URL}.`),
  secret: z
    .string()
    .min(MIN_KEY_LENGTH, `a secret needs ${MIN_KEY_LENGTH} characters or more: short ones can be guessed`)
    .optional()
    .describe('Of a `webhook`: signs its events. Use `${VAR}`.'),
  routingKey: z.string().min(1).optional().describe('Of `pagerduty`: the integration key. Use `${VAR}`.'),
  to: z.array(z.email()).min(1).max(20).optional().describe('Of `email`: the recipients.'),
  private: z.boolean().default(false).describe('Whether the address may be private, and plain http.'),
  quietHours: z
    .boolean()
    .optional()
    .describe(
      'Whether quiet hours of rules hold its notices. Default: `false` for `pagerduty`, else `true`.',
    ),
})

const time = z
  .string()
  .regex(/^(24:00|([01]\d|2[0-3]):[0-5]\d)$/, 'expected a time such as "22:00", in quotes')

const rule = z.strictObject({
  kind: z.enum(ALERT_KINDS).describe('What is watched.'),
  condition: z
    .record(z.string(), z.union([z.number(), z.array(z.number())]))
    .default({})
    .describe(
      'When it is reported; each kind has its own fields. Default: as in the table of the alerts page.',
    ),
  project: z
    .string()
    .optional()
    .describe('The project that is watched; `*`: each separately. Absent: the installation.'),
  channels: z.array(z.string().min(1)).min(1).describe('Names of channels in this file.'),
  quietHours: z
    .strictObject({
      days: z
        .array(z.enum(WEEKDAYS))
        .min(1)
        .default([...WEEKDAYS])
        .describe('Days on which they begin.'),
      from: time.describe('Such as `"22:00"`.'),
      to: time.describe('Such as `"07:00"`; `"24:00"` is the end of the day.'),
      zone: z.string().describe('A time zone such as `Europe/Berlin`.'),
    })
    .optional()
    .describe('When notices wait. Absent: never.'),
  enabled: z.boolean().default(true).describe('Whether the rule is on.'),
})

export const alerts = z.strictObject({
  channels: z.record(z.string(), channel).default({}).describe('Where notices go, by name.'),
  rules: z.record(z.string(), rule).default({}).describe('What starts an incident, by name.'),
})

export type AlertsEntry = z.output<typeof alerts>
export type ChannelEntry = z.output<typeof channel>
export type RuleEntry = z.output<typeof rule>
