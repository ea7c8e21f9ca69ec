import type { replay as english } from '../en/replay.ts'
import type { Partly } from '../fallback.ts'

export const replay: Partly<typeof english> = {
  action: '重放',
  title: '重放请求',
  note: '以你的权限和项目的限额再次发送已捕获的输入。',
  notAllowed: '需要此项目的试验场权限。',
  needs: '重放需要已捕获的输入。',
  turnOn: '在“设置 › 项目”中开启',
  reasons: {
    capture_off: (project) => `${project} 不捕获输入。管理员可在设置中开启。`,
    expired: () => '输入保留 24 小时，此输入已删除。',
    too_large: () => '大于 4 MB 的请求不捕获。',
    batch: () => '属于批处理。请在新的批处理中运行这些行。',
    not_captured: () => '此请求的输入未被捕获。',
  },
  counting: '正在计算费用…',
  atMost: '最高费用',
  billedTo: (project) => `由项目 ${project} 承担`,
  refused: (status, code) => `现在会被拒绝：${status} ${code}。不收费。`,
  sends: '发送内容',
  size: '大小',
  deployments: '部署',
  expires: '输入删除时间',
  go: (usd) => (usd === undefined ? '重放' : `重放，最多 ${usd}`),
  compare: '原请求与重放',
  waiting: '等待重放写入日志…',
  what: '字段',
  original: '原请求',
  again: '重放',
  error: '错误',
  of: (id) => `${id} 的重放`,
}
