import type { Contracts } from "./contracts.ts";

const PAGE_ROWS = 500;

export interface Topic {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  readonly createdTime: number;
  readonly totalMembers: number;
  readonly privacyStatus: "public";
  readonly postIds: readonly string[];
  readonly importanceScore: number;
}

/** One page of the topics created before `beforeTime`, newest first. */
export function listTopics(contracts: Contracts, beforeTime: number): Topic[] {
  return allTopics(contracts)
    .filter((topic) => topic.createdTime < beforeTime)
    .slice(0, PAGE_ROWS);
}

export function findTopic(contracts: Contracts, matches: (topic: Topic) => boolean): Topic | null {
  return allTopics(contracts).find(matches) ?? null;
}

function allTopics(contracts: Contracts): Topic[] {
  const topics = new Map<string, { createdTime: number; contracts: number }>();
  for (const { event, groupSlugs } of contracts.list()) {
    for (const slug of groupSlugs) {
      const existing = topics.get(slug);
      topics.set(slug, {
        createdTime: Math.min(existing?.createdTime ?? Number.POSITIVE_INFINITY, event.openAt),
        contracts: (existing?.contracts ?? 0) + 1,
      });
    }
  }
  return [...topics]
    .map(([slug, topic]) => ({
      id: `topic-${slug}`,
      slug,
      name: topicName(slug),
      createdTime: topic.createdTime,
      totalMembers: 10 * topic.contracts,
      privacyStatus: "public" as const,
      postIds: [],
      importanceScore: Math.min(1, topic.contracts / 100),
    }))
    .sort((a, b) => b.createdTime - a.createdTime);
}

function topicName(slug: string): string {
  const words = slug.replace(/-default$/, "").split("-");
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(" ");
}
