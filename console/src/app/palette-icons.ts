import {
  Activity,
  Boxes,
  Folder,
  Image,
  KeyRound,
  Layers,
  Network,
  Orbit,
  Plug,
  ScrollText,
  Server,
  UserRound,
  Waypoints,
  type LucideIcon,
} from 'lucide-react'
import type { HitType } from './resolve.ts'

export const HIT_ICONS: Record<HitType, LucideIcon> = {
  request: Activity,
  batch: Layers,
  call: Waypoints,
  key: KeyRound,
  project: Folder,
  model: Boxes,
  deployment: Network,
  asset: Image,
  space: Orbit,
  node: Server,
  upstream: Plug,
  member: UserRound,
  audit: ScrollText,
}
