"""Load on a Citus cluster whose nodes fail and whose shards move."""
