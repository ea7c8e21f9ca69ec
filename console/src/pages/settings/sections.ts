/** The sections of the settings, in the order of their tabs. Each is loaded when it is opened. */
import { lazyRouteComponent } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import type { Section } from '../../app/place.ts'

export const SECTIONS = [
  {
    id: 'general',
    actions: [{ id: 'changePassword', search: { password: true } }],
    Content: lazyRouteComponent(() => import('./general-section.tsx'), 'GeneralSection'),
  },
  {
    id: 'members',
    permission: 'members.read',
    actions: [{ id: 'invite', search: { new: true }, permission: 'members.invite' }],
    Content: lazyRouteComponent(() => import('./members-section.tsx'), 'MembersSection'),
  },
  {
    id: 'sign-on',
    permission: 'sign_on.read',
    actions: [{ id: 'singleSignOn', permission: 'sign_on.write' }],
    Content: lazyRouteComponent(() => import('./sign-on-section.tsx'), 'SignOnSection'),
  },
  {
    id: 'tokens',
    permission: 'tokens.read',
    actions: [{ id: 'newToken', search: { new: true }, permission: 'tokens.write' }],
    Content: lazyRouteComponent(() => import('./tokens-section.tsx'), 'TokensSection'),
  },
  {
    id: 'prices',
    permission: 'prices.read',
    actions: [{ id: 'setPrice', permission: 'prices.write' }],
    Content: lazyRouteComponent(() => import('./prices-section.tsx'), 'PricesSection'),
  },
  {
    id: 'projects',
    permission: 'projects.read',
    actions: [
      { id: 'newProject', search: { new: true }, permission: 'projects.write' },
      { id: 'webhookDeliveries' },
    ],
    Content: lazyRouteComponent(() => import('./projects-section.tsx'), 'ProjectsSection'),
  },
  {
    id: 'retention',
    permission: 'settings.read',
    Content: lazyRouteComponent(() => import('./retention-section.tsx'), 'RetentionSection'),
  },
  {
    id: 'nodes',
    permission: 'nodes.read',
    actions: [{ id: 'diagnose', permission: 'doctor.read' }],
    Content: lazyRouteComponent(() => import('./nodes-section.tsx'), 'NodesSection'),
  },
  {
    id: 'about',
    permission: 'settings.read',
    Content: lazyRouteComponent(() => import('./about-section.tsx'), 'AboutSection'),
  },
] as const satisfies readonly (Section & { readonly Content: ComponentType })[]
