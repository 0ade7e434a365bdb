"""What a report says about a plan: which clause finishes, begins, fails or reopens which step."""
