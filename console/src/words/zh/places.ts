import type { places as english } from '../en/places.ts'
import type { Partly } from '../fallback.ts'

export const places: Partly<typeof english> = {
  overview: '总览',
  requests: '请求',
  batches: '批处理',
  models: '模型',
  embeddings: '向量',
  images: '图像',
  usage: '用量与费用',
  budgets: '预算',
  unknowns: '结果未知',
  upstreams: '上游',
  deployments: '部署',
  alerts: '警报',
  keys: '密钥',
  audit: '审计',
  settings: '设置',
  cost: '费用',
}
