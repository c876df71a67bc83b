"""The page of rules in a real browser."""

from playwright.sync_api import Page, expect


def test_an_arrow_that_moves_a_rule_nowhere_looks_disabled(page: Page) -> None:
    page.goto("/rules/new")
    page.locator("[name=q]").fill("bower*")
    page.locator("[name=do0]").select_option("mark_read")
    page.locator("[name=name]").fill("Bowers")
    page.locator("[name=do][value=save]").click()

    arrow = page.get_by_role("button", name="up").first
    expect(arrow).to_be_disabled()
    expect(arrow).to_have_css("opacity", "0.35")
