import type { Service } from '../../../src/service/service.ts'

/** The status with which a service answers a call of the page. */
export async function called(service: Service, path: string, body: unknown = {}): Promise<number> {
  const text = JSON.stringify(body)
  const call = { method: 'POST', path: `/sandbox/${path}`, query: new URLSearchParams(), headers: {}, text }
  return (await service.control(call)).statusCode
}
