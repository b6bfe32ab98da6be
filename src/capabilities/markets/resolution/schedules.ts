import { EMMYS, GRAMMYS, OSCARS } from "../../../domain/calendars/awards.ts";
import type { Calendar } from "../../../domain/calendars/calendar.ts";
import { BANK_OF_ENGLAND, ECB, FOMC } from "../../../domain/calendars/central-banks.ts";
import {
  CHAMPIONS_LEAGUE_FINAL,
  NBA_FINALS,
  STANLEY_CUP_FINAL,
  SUPER_BOWL,
  WORLD_SERIES,
} from "../../../domain/calendars/league-finals.ts";
import { CPI, GDP, JOBLESS_CLAIMS, JOBS_REPORT, PCE } from "../../../domain/calendars/us-data-releases.ts";
import { US_FEDERAL_ELECTION } from "../../../domain/calendars/us-elections.ts";

/**
 * release: publication of an official figure or decision. event: an event with a result. bound: the event is only a
 * deadline ("before the midterms").
 */
export type ScheduleKind = "release" | "event" | "bound";

export interface RecurringSchedule {
  readonly calendar: Calendar;
  readonly kind: ScheduleKind;
}

interface SchedulePattern extends RecurringSchedule {
  readonly pattern: RegExp;
  /** If this matches, the text is about something else. */
  readonly except?: RegExp;
  /** If true, texts about another country do not match, because its statistic has a different calendar. */
  readonly onlyUs?: boolean;
}

const FOREIGN =
  /\b(?:Argentin\w+|Austral\w+|Brazil\w*|Brit\w+|Canad\w+|Chin\w+|Euro(?:pe\w*|zone| area)?|Fr(?:ance|ench)|German\w*|India\w*|Israel\w*|Ital\w+|Japan\w*|Tokyo|Mexic\w+|Korea\w*|Poland|Polish|Russia\w*|Spain|Spanish|Swed\w+|Swiss|Switzerland|Turk\w+|UK|U\.K\.|United Kingdom|Venezuel\w+)/i;
/** "China's GDP", also in a comparison with the US. */
const FOREIGN_OWNER = new RegExp(`${FOREIGN.source}['’]s(?: \\w+)? $`, "i");
/** Text before an event that is only a deadline: "before the ", "by the 2026 ". */
const IS_BOUND = /\b(?:before|by|until|prior to|ahead of) (?:the )?(?:[\w.]+ ){0,2}$/i;
const US = /\b(?:US|USA|United States|BLS|Bureau of Labor Statistics|BEA|Bureau of Economic Analysis|CPI-U)\b|\bU\.S\./;

/** In order of precedence: a text about "Fed rate cut if CPI …" is about the Fed. */
const PATTERNS: readonly SchedulePattern[] = [
  {
    calendar: ECB,
    kind: "release",
    pattern: /\b(?:ECB|European Central Bank)\b.{0,120}\b(?:rates?|decisions?|meeting|cuts?|hikes?|bps)\b/i,
  },
  {
    calendar: BANK_OF_ENGLAND,
    kind: "release",
    pattern: /\b(?:BoE|Bank of England)\b.{0,120}\b(?:rates?|decisions?|meeting|cuts?|hikes?|bps)\b/i,
  },
  {
    calendar: FOMC,
    kind: "release",
    pattern:
      /\b(?:FOMC|Federal Open Market Committee|federal funds (?:target )?(?:rate|range))\b|\bFed(?:eral Reserve)?(?:'s|’s)?:? (?:(?:interest |funds )?rates?|decisions?|cuts?|hikes?|holds?|pauses?|increases?|decreases?|meeting)\b|\bFed\b.{0,60}\b(?:rate (?:cuts?|hikes?)|interest rates?|\d+ ?bps|meeting)\b|\brate (?:cuts?|hikes?)\b.{0,40}\bFed\b/i,
    except: /\b(?:Fed(?:eral Reserve)? chair|nominee|governor|fired|resign)/i,
  },
  {
    calendar: JOBLESS_CLAIMS,
    kind: "release",
    pattern: /\b(?:initial|weekly|continuing) (?:jobless|unemployment) claims\b|\bjobless claims\b/i,
    onlyUs: true,
  },
  {
    calendar: JOBS_REPORT,
    kind: "release",
    pattern:
      /\bnon-?farm payrolls?\b|\bpayrolls\b|\bjobs report\b|\bemployment situation\b|\bunemployment rate\b|\bjobs (?:be )?added\b|\badd .{0,30}\bjobs\b/i,
    onlyUs: true,
  },
  {
    calendar: PCE,
    kind: "release",
    pattern: /\bPCE\b|\bpersonal consumption expenditures\b/i,
    onlyUs: true,
  },
  {
    calendar: GDP,
    kind: "release",
    pattern: /\bGDP\b|\bgross domestic product\b/i,
    except: /\bper (?:capita\b|GDP\b)|\bshare of GDP\b|(?:%|\bpercent) of (?:[\w.'’]+ ){0,4}GDP\b/i,
    onlyUs: true,
  },
  {
    calendar: CPI,
    kind: "release",
    pattern:
      /\bCPI(?:-U)?\b|\bconsumer price index\b|\b(?:annual|monthly|core|headline|US|U\.S\.) inflation\b|\binflation (?:rate|report|be|rise|increase)\b/i,
    onlyUs: true,
  },
  { calendar: SUPER_BOWL, kind: "event", pattern: /\bSuper Bowl\b|\b(?:NFL|pro football) champion(?:s|ship)?\b/i },
  {
    calendar: NBA_FINALS,
    kind: "event",
    pattern: /\b(?:NBA|pro basketball) (?:finals|champion(?:s|ship)?)\b/i,
    except: /women/i,
  },
  { calendar: STANLEY_CUP_FINAL, kind: "event", pattern: /\bStanley Cup\b/i },
  { calendar: WORLD_SERIES, kind: "event", pattern: /\bWorld Series\b/i, except: /poker/i },
  {
    calendar: CHAMPIONS_LEAGUE_FINAL,
    kind: "event",
    pattern: /\bwin (?:the )?(?:.{0,20} )?(?:UEFA )?Champions League\b|\bChampions League (?:final|winner|champion)/i,
    except: /women|\b(?:CAF|AFC|CONCACAF)\b/i,
  },
  {
    calendar: OSCARS,
    kind: "event",
    pattern: /\bOscars?\b|\bAcademy Awards?\b/,
    except: /\bOscar (?:Piastri|Isaac|De|M\w+)/,
  },
  { calendar: GRAMMYS, kind: "event", pattern: /\bGrammys?\b/i, except: /latin/i },
  { calendar: EMMYS, kind: "event", pattern: /\bEmmys?\b/i, except: /\b(?:daytime|international|news)\b/i },
  {
    calendar: US_FEDERAL_ELECTION,
    kind: "event",
    pattern:
      /\b(?:US|U\.S\.|United States) (?:presidential|midterm|House|Senate|general) (?:election|elections)|\bmidterms?\b|\b20\d\d (?:US )?presidential election\b|\b[A-Z]{2}-(?:\d{1,2}|AL) House (?:seat|race)|\b(?:House|Senate) (?:seat|race)\b|\bcontrol (?:of )?the (?:House|Senate)\b|\b(?:governor|gubernatorial) race\b/i,
    except: /\b(?:primary|nominee|nomination|special election|runoff|mayor)/i,
    onlyUs: true,
  },
];

/** Number of searched characters of the rules. Later parts often mention other statistics as examples. */
const LEAD_LENGTH = 400;

/**
 * Finds the recurring schedule that a market is about, or null. Uses the titles, or the beginning of the rules if the
 * titles name no schedule.
 */
export function findSchedule(titles: string, rules: string): RecurringSchedule | null {
  const lead = rules.slice(0, LEAD_LENGTH);
  for (const text of [titles, lead]) {
    for (const { pattern, except, onlyUs, ...schedule } of PATTERNS) {
      const match = pattern.exec(text);
      if (match === null || except?.test(text) === true) continue;
      const before = text.slice(Math.max(0, match.index - 30), match.index);
      if (schedule.kind === "event" && IS_BOUND.test(before)) return { ...schedule, kind: "bound" };
      const all = `${titles}\n${lead}`;
      const isForeign = FOREIGN_OWNER.test(before) || (FOREIGN.test(all) && !US.test(all));
      if (onlyUs === true && isForeign) continue;
      return schedule;
    }
  }
  return null;
}

const MACRO_ASSET =
  /\b(?:Bitcoin|BTC|Ether(?:eum)?|ETH|Solana|SOL|XRP|S&P ?500|SPX|Nasdaq|Dow Jones|Russell 2000|Treasury|10-year yield|gold(?! (?:medal|coast|cup|glove))|silver|recession|mortgage rates?|dollar index|DXY)\b/i;

/** Releases that move the price of most financial assets. */
export const MACRO_CALENDARS: readonly Calendar[] = [FOMC, CPI, JOBS_REPORT];

/** Whether a market is about an asset whose price depends on the releases of `MACRO_CALENDARS`. */
export function isMacroAsset(titles: string): boolean {
  return MACRO_ASSET.test(titles);
}
