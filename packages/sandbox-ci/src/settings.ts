import type { SandboxCi } from './server.ts'

/** The bot's settings for this CI, under the names of its environment variables. */
export function botSettings(ci: Pick<SandboxCi, 'address'>) {
  const { baseUrl, legacyBaseUrl, siteUrl, organizationUuid, authorization, apiKey } = ci.address()
  return {
    CI_BASE_URL: baseUrl,
    CI_LEGACY_BASE_URL: legacyBaseUrl,
    CI_SITE_URL: siteUrl,
    CI_ORGANIZATION_UUID: organizationUuid,
    CI_AUTHORIZATION: authorization,
    CI_API_KEY: apiKey,
  }
}
