from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("runs", "0005_count_what_was_made_and_where_it_went"),
    ]

    operations = [
        migrations.AddField(
            model_name="run",
            name="loss_since",
            field=models.BigIntegerField(null=True),
        ),
    ]
