import type { Contracts } from "./contracts.ts";

const TOPICS_PER_PAGE = 500;

type Topic = ReturnType<typeof collectTopics>[number];

/** Returns one page of the topics created before `beforeTime`, newest first. */
export function listTopics(contracts: Contracts, beforeTime: number): Topic[] {
  return collectTopics(contracts)
    .filter((topic) => topic.createdTime < beforeTime)
    .slice(0, TOPICS_PER_PAGE);
}

export function findTopic(contracts: Contracts, matches: (topic: Topic) => boolean): Topic | null {
  return collectTopics(contracts).find(matches) ?? null;
}

function collectTopics(contracts: Contracts) {
  const bySlug = new Map<string, { createdTime: number; contracts: number }>();
  for (const { event, groupSlugs } of contracts.list()) {
    for (const slug of groupSlugs) {
      const { createdTime, contracts } = bySlug.get(slug) ?? { createdTime: event.openAt, contracts: 0 };
      bySlug.set(slug, { createdTime: Math.min(createdTime, event.openAt), contracts: contracts + 1 });
    }
  }
  return [...bySlug]
    .map(([slug, topic]) => ({
      id: `topic-${slug}`,
      slug,
      name: topicNameOf(slug),
      createdTime: topic.createdTime,
      totalMembers: 10 * topic.contracts,
      privacyStatus: "public",
      postIds: [],
      importanceScore: Math.min(1, topic.contracts / 100),
    }))
    .sort((a, b) => b.createdTime - a.createdTime);
}

function topicNameOf(slug: string): string {
  const words = slug.replace(/-default$/, "").split("-");
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(" ");
}
