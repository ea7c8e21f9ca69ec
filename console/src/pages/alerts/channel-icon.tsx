/** The mark of a channel's kind: shapes of our own, no trade marks. */
import { Hash, Mail, MessagesSquare, Siren, Webhook, type LucideIcon } from 'lucide-react'
import type { ChannelKind } from '../../api/queries/alerts.ts'

const ICONS: Record<ChannelKind, LucideIcon> = {
  slack: Hash,
  teams: MessagesSquare,
  pagerduty: Siren,
  email: Mail,
  webhook: Webhook,
}

interface ChannelIconProps {
  readonly kind: ChannelKind
  /** What it means where no text is beside it. */
  readonly label?: string
  readonly size?: number
}

export function ChannelIcon({ kind, label, size = 13 }: ChannelIconProps) {
  const Icon = ICONS[kind]
  if (label === undefined) return <Icon size={size} aria-hidden className="shrink-0" />
  return (
    <span role="img" aria-label={label} title={label} className="inline-flex shrink-0">
      <Icon size={size} aria-hidden />
    </span>
  )
}
